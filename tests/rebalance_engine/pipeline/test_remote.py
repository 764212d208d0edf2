import socket
import threading

import pytest
from pyspark.sql.connect.shell.progress import StageInfo

from rebalance_engine.pipeline import remote
from rebalance_engine.pipeline.progress import Tasks
from rebalance_engine.pipeline.remote import Heard, NoAnswer, connect, leave

WITHIN_S = 60


def test_a_server_that_takes_connections_and_never_answers_is_given_up() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()

        with pytest.raises(NoAnswer, match="DEADLINE_EXCEEDED"):
            connect(f"sc://127.0.0.1:{silent.getsockname()[1]}", {}, answers_within_s=0.2)


def step(tasks: int, completed: int, *, done: bool = False) -> StageInfo:
    return StageInfo(stage_id=1, num_tasks=tasks, num_completed_tasks=completed, num_bytes_read=0, done=done)


def test_the_steps_that_a_server_is_at_are_summed_up_until_they_are_done() -> None:
    heard = Heard()
    assert heard.tasks() is None

    heard(stages=[step(4, 4, done=True), step(8, 3)], inflight_tasks=2, operation_id="a", done=False)
    heard(stages=[step(2, 1)], inflight_tasks=1, operation_id="b", done=False)
    assert heard.tasks() == Tasks(done=4, total=10)

    for operation in ("a", "b", "b"):
        heard(stages=[step(8, 8)], inflight_tasks=0, operation_id=operation, done=True)
    assert heard.tasks() is None


class Server:
    """A session of a server that answers, or does not."""

    def __init__(self, *, answers: bool) -> None:
        self.client, self.did, self.answers = self, list[str](), threading.Event()
        self.has_begun, self.has_ended = threading.Event(), threading.Event()
        if answers:
            self.answers.set()

    def set_retry_policies(self, policies: list[object]) -> None:
        self.did.append(f"asks {1 + len(policies)} times")

    def close(self) -> None:
        self.did.append("closed")

    def interruptAll(self) -> None:  # noqa: N802 - Spark's name
        self.has_begun.set()
        self.answers.wait(WITHIN_S)
        self.did.append("interrupted")
        raise OSError("it is gone")

    def stop(self) -> None:
        self.did.append("stopped")
        self.has_ended.set()


@pytest.mark.parametrize(("is_cut", "did"), [(True, ["interrupted", "stopped"]), (False, ["stopped"])])
def test_what_is_cut_short_ends_at_the_server_too(is_cut: bool, did: list[str]) -> None:
    server = Server(answers=True)

    leave(server, is_cut=is_cut)  # type: ignore[arg-type] # a fake

    assert server.did == ["asks 1 times", *did]


def test_nobody_waits_for_a_server_that_does_not_answer_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "ENDS_WITHIN_S", 0.01)
    server = Server(answers=False)

    leave(server, is_cut=True)  # type: ignore[arg-type] # a fake

    assert server.did == ["asks 1 times", "closed"]
    assert server.has_begun.wait(WITHIN_S)
    server.answers.set()
    assert server.has_ended.wait(WITHIN_S)
