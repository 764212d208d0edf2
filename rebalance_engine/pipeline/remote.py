"""A session of Spark Connect: a server is asked within bounded time, heard of its steps, and given up when gone.

Spark's client asks a server that does not answer for ten minutes; so it is asked here first, once. From then on the
client itself looks every minute whether a server that says nothing is there still (HTTP/2 pings).
"""

from __future__ import annotations

import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping

import grpc  # type: ignore[import-untyped] # grpc has no types
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.connect.client import DefaultChannelBuilder
from pyspark.sql.connect.client.retries import DefaultPolicy
from pyspark.sql.connect.proto import (
    AnalyzePlanRequest,
    ReleaseSessionRequest,
    SparkConnectServiceStub,
)
from pyspark.sql.connect.shell.progress import ProgressHandler, StageInfo

from rebalance_engine.pipeline.progress import Tasks

ANSWERS_WITHIN_S = 20.0
ENDS_WITHIN_S = 10.0
# One that goes in the middle of a run is waited for about a minute: 0.05, 0.2, 0.8, 3.2, 12.8 and three times 15 s.
TRIES, MOST_BETWEEN_MS = 8, 15_000


class NoAnswer(Exception):
    """No server of Spark Connect answers there; the message says what does not."""


def connect(remote: str, settings: Mapping[str, str], *, answers_within_s: float = ANSWERS_WITHIN_S) -> SparkSession:
    """Begin a session at a server that answers.

    Args:
        remote: ``sc://HOST:PORT/;NAME=VALUE;...``, as PySpark takes it.
        settings: of the session; those that only the server can make have no effect.

    Raises:
        NoAnswer: nobody answers within ``answers_within_s``, or not as Spark Connect does.
    """
    try:
        _ask(DefaultChannelBuilder(remote), answers_within_s)
        session = SparkSession.Builder().remote(remote).config(map=dict(settings)).getOrCreate()
    except grpc.RpcError as error:
        raise NoAnswer(f"{error.code().name}: {error.details()}") from error
    except (PySparkException, ValueError) as error:  # an address that is none, a server that refuses
        raise NoAnswer(f"{type(error).__name__}: {error}") from error
    session.client.set_retry_policies([DefaultPolicy(max_retries=TRIES, max_backoff=MOST_BETWEEN_MS)])
    warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")  # it is raised besides
    return session


def _ask(address: DefaultChannelBuilder, within_s: float) -> None:
    """Ask for the version, in a session that ends at once; a server that is only beginning to listen is none yet."""
    number, words = str(uuid.uuid4()), list(address.metadata())
    with address.toChannel() as channel:
        server = SparkConnectServiceStub(channel)  # type: ignore[no-untyped-call] # it is generated
        version = AnalyzePlanRequest.SparkVersion()
        server.AnalyzePlan(
            AnalyzePlanRequest(session_id=number, spark_version=version), metadata=words, timeout=within_s
        )
        server.ReleaseSession(ReleaseSessionRequest(session_id=number), metadata=words, timeout=within_s)


class Heard(ProgressHandler):
    """What a server tells by itself, every few seconds, of the steps that it is at."""

    def __init__(self) -> None:
        self._steps: dict[str | None, list[StageInfo]] = {}

    def __call__(
        self,
        stages: Iterable[StageInfo] | None,
        inflight_tasks: int,  # noqa: ARG002 # as Spark calls it
        operation_id: str | None,
        done: bool,
    ) -> None:
        """Keep what is told of an operation, until it is done."""
        if done:
            self._steps.pop(operation_id, None)
        else:
            self._steps[operation_id] = [step for step in stages or () if not step.done]

    def tasks(self) -> Tasks | None:
        """Give the tasks of the steps that it is at; None where it is at none."""
        steps = [step for told in list(self._steps.values()) for step in told]
        if not steps:
            return None
        return Tasks(sum(step.num_completed_tasks for step in steps), sum(step.num_tasks for step in steps))


def hear(spark: SparkSession) -> Callable[[], Tasks | None]:
    """Listen to what the server tells of its steps; give what is known of them."""
    heard = Heard()
    spark.registerProgressHandler(heard)
    return heard.tasks


def leave(spark: SparkSession, *, is_cut: bool) -> None:
    """End the session, and what its server works at where it ``is_cut``; wait no longer than a server should take."""
    spark.client.set_retry_policies([])  # else each frame that is kept would ask one that is gone for a minute
    steps = [spark.interruptAll, spark.stop] if is_cut else [spark.stop]

    def end() -> None:
        for step in steps:
            try:
                step()
            except (PySparkException, grpc.RpcError, OSError):
                continue  # it is gone, and with it what it worked at

    thread = threading.Thread(target=end, name="leave", daemon=True)
    thread.start()
    thread.join(ENDS_WITHIN_S)
    if thread.is_alive():
        spark.client.close()  # and nobody else waits for it
