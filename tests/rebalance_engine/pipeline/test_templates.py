from rebalance_engine.pipeline.layouts import LAYOUTS
from rebalance_engine.pipeline.templates import ADDS, REMOVES, TEMPLATES, Template


def fits(template: Template, message: str) -> bool:
    first = message.split("\n", 1)[0]
    return message.startswith(template.begins) and template.has in message and first.endswith(template.ends)


def kind(layout: str, message: str) -> str | None:
    return next((template.what for template in TEMPLATES[layout] if fits(template, message)), None)


def test_every_layout_of_text_has_templates() -> None:
    assert TEMPLATES.keys() == LAYOUTS.keys() - {"history"}


def test_every_template_says_something_to_look_for() -> None:
    assert [one for those in TEMPLATES.values() for one in those if not (one.begins or one.has or one.ends)] == []


def test_an_add_that_failed_is_no_add() -> None:
    queue = "MessageQueue [topic=orders, brokerName=east, queueId=1]"

    assert kind("java5", f"doRebalance, g, add a new mq, {queue}") in ADDS
    assert kind("java5", f"doRebalance, g, add a new mq failed, {queue}, because lock failed") == "lock refused"
    assert kind("java5", f"doRebalance, g, add new mq failed, {queue}") == "add failed"
    assert kind("java4", f"doRebalance, g, compute offset failed, {queue}") == "add failed"


def test_an_expired_pull_is_a_removal_only_where_it_removes() -> None:
    """5.x prints the ordinary removal line besides; 4.x prints this one alone, and only on success."""
    queue = "MessageQueue [topic=orders, brokerName=east, queueId=1]"
    because = "because pull is pause, so try to fixed it"

    assert kind("java5", f"[BUG]doRebalance, g, try remove unnecessary mq, {queue}, {because}") == "pull expired"
    assert kind("java4", f"[BUG]doRebalance, g, remove unnecessary mq, {queue}, {because}") in REMOVES


def test_heartbeats_lost_are_told_in_the_words_of_both_versions() -> None:
    lost = "send heart beat to broker[east 0 10.0.0.9:10911] failed"
    gone = "send heart beat to broker[east 0 10.0.0.9:10911] exception, because the broker not up, forget it"

    assert kind("java5", "send heart beat to broker[east 0 10.0.0.9:10911] success") == "heartbeat"
    for line in (lost, gone):
        assert kind("java5", line) == kind("java5", f"sendHeartbeatToAllBrokerV2 {line}") == "heartbeat failed"


def test_queues_of_pop_consumers_are_in_another_table() -> None:
    queue = "MessageQueue [topic=orders, brokerName=east, queueId=-1]"

    assert kind("java5", f"doRebalance, g, add a new pop mq, {queue}") == "pop added"
    assert kind("java5", f"doRebalance, g, mq pop already exists, {queue}") == "pop kept"
    assert kind("java5", f"doRebalance, g, remove unnecessary pop mq, {queue}") == "pop removed"
    unsubscribed = f"doRebalance, g, truncateMessageQueueNotMyTopic remove unnecessary pop mq, {queue}"
    assert kind("java5", unsubscribed) == "pop removed"
