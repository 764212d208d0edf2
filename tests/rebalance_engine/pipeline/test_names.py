"""What PySpark asks Java for by name is asked for once."""

from collections import Counter

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.names import keep_names

pytestmark = pytest.mark.spark


@pytest.fixture
def asked(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is asked of Java by name: py4j's commands of reflection begin with an r."""
    client = spark.sparkContext._jvm._gateway_client  # type: ignore[union-attr]
    send, counts = client.send_command, Counter[str]()

    def counting(command: str, *more: object, **options: object) -> object:
        if command.startswith("r\n"):
            counts[command.split("\n")[2]] += 1
        return send(command, *more, **options)

    monkeypatch.setattr(client, "send_command", counting)
    return counts


def test_a_column_that_is_made_again_asks_for_no_class_and_no_method(spark: SparkSession, asked: Counter[str]) -> None:
    def made() -> list[Row]:
        column = F.when(F.col("id").isin(1, 2) & (F.lit(3) > F.col("id")), F.coalesce(F.col("id"), F.lit(0)))
        return spark.range(3).select(column.alias("x")).collect()

    first = made()
    asked.clear()

    assert made() == first == [(None,), (1,), (2,)]
    assert not asked & Counter(["functions", "org.apache.spark.sql.functions", "PythonUtils"])
    assert "org.apache.spark.sql.catalyst.trees.PySparkCurrentOrigin" not in asked


def test_names_are_kept_once(spark: SparkSession) -> None:
    kept = spark.sparkContext._jvm.functions  # type: ignore[union-attr]

    keep_names(spark)

    assert spark.sparkContext._jvm.functions is kept  # type: ignore[union-attr]
