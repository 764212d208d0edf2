"""Ids are read whole, whatever a process is called: its name may have blanks, quotes and commas."""

from collections.abc import Callable

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.naming import (
    factory_client,
    locked_client,
    locking_client,
    named_client,
    persisting_client,
)

pytestmark = pytest.mark.spark
IDS = ("10.0.0.1@4711#99", "10.0.0.1@order svc", '10.0.0.1@the "big" one', "10.0.0.1@a, b", "10.0.0.1@订单 服务")
QUEUE = "MessageQueue [topic=orders, brokerName=east, queueId=3]"
BETWEEN = "RebalanceLockManager#tryLockBatch: try to lock a expired message queue, group=g, "
LOCKED = "RebalanceLockManager#tryLockBatch: message queue has been locked by other client, group=g, "
Read = Callable[[Column], Column]
SAID: list[tuple[Read, str]] = [
    (persisting_client, f"[persistAll] Group: g ClientId: {{}} updateConsumeOffsetToBroker {QUEUE} 12"),
    (factory_client, "the client factory [{}] start OK"),
    (factory_client, "the client factory [{}] shutdown OK"),
    (named_client, "rebalanced result changed. group=g, topic=orders, clientId={}, mqAllSize=4, cidAllSize=2"),
    (named_client, "broker rebalanced result changed. group=g, topic=orders, clientId={}, assignmentSet=[]"),
    (named_client, f"unlock messageQueue. group:g, clientId:{{}}, mq:{QUEUE}"),
    (named_client, "HeartbeatData [clientID={}, producerDataSet=[], consumerDataSet=[]]"),
    (named_client, "Created a new client Instance, InstanceIndex:0, ClientID:{}, ClientConfig:ClientConfig{{}}"),
    (named_client, "ClientChannelInfo [channel=[id: 0x1], clientId={}, language=JAVA, version=465]"),
    (named_client, f"tryLockBatch, message queue not locked, I got it. Group: g NewClientId: {{}} {QUEUE}"),
    (named_client, f"RebalanceLockManager#unlockBatch: unlock mq, group=g, clientId={{}}, mqs={QUEUE}"),
    (locking_client, f"{BETWEEN}mq={QUEUE}, old client id=A, new client id={{}}"),
    (locked_client, f"{BETWEEN}mq={QUEUE}, old client id={{}}, new client id=B"),
    (locking_client, f"{LOCKED}mq={QUEUE}, locked client id=A, current client id={{}}"),
    (locked_client, f"{LOCKED}mq={QUEUE}, locked client id={{}}, current client id=B"),
    (locking_client, f"tryLockBatch, locked by other client. Group: g OtherClientId: A NewClientId: {{}} {QUEUE}"),
    (locked_client, f"tryLockBatch, locked by other client. Group: g OtherClientId: {{}} NewClientId: B {QUEUE}"),
]


def read(spark: SparkSession, one: Read, message: str) -> str | None:
    found: str | None = (
        spark.createDataFrame([(message,)], "message string").select(one(F.col("message"))).collect()[0][0]
    )
    return found


@pytest.mark.parametrize("number", range(len(SAID)))
def test_an_id_is_read_to_what_the_line_says_next(spark: SparkSession, number: int) -> None:
    one, text = SAID[number]
    lines = spark.createDataFrame([(text.replace("{}", each, 1),) for each in IDS], "message string")

    assert [row[0] for row in lines.select(one(F.col("message"))).collect()] == list(IDS)


def test_gos_values_are_read_with_quotes_and_without(spark: SparkSession) -> None:
    asked = 'msg="MessageQueue do balance done" clientID={} consumerGroup=g mqAllSize=4'

    assert read(spark, named_client, asked.replace("{}", "10.0.0.1@4711")) == "10.0.0.1@4711"
    assert read(spark, named_client, asked.replace("{}", '"10.0.0.1@4711#99"')) == "10.0.0.1@4711#99"


def test_a_line_that_names_nobody_names_nobody(spark: SparkSession) -> None:
    assert read(spark, named_client, "send heart beat to broker[east 0 10.0.0.1:10911] success") is None
    assert read(spark, locking_client, "RebalanceLockManager#tryLockBatch: something else") is None
