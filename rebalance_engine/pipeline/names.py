"""Keeps what PySpark asks Java for by name.

For every column PySpark asks anew for the class of its functions, by a short name that Java looks for in each of
Spark's 250 jars, and for the method, among a thousand: a seventh of the processor time of a run over little input.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

# By what names PySpark asks for what each column needs.
CLASSES = ("functions", "org.apache.spark.sql.functions", "PythonUtils", "PythonSQLUtils")


class Kept:
    """A class of Java whose members are asked for once."""

    def __init__(self, java: object) -> None:
        """Begin without any."""
        self._java = java

    def __getattr__(self, name: str) -> object:
        """Ask for a member that is not known yet; the next time it is found before this is called."""
        if name.startswith("_"):
            raise AttributeError(name)  # Python asks for such, as to copy it; Java has none
        member = getattr(self._java, name)
        setattr(self, name, member)
        return member


def keep_names(spark: SparkSession) -> None:
    """Let a session's view of Java keep the classes that columns are made with."""
    java = spark.sparkContext._jvm  # PySpark has no other way to it
    for name in CLASSES:
        if name not in vars(java):
            setattr(java, name, Kept(getattr(java, name)))
