from __future__ import annotations

import socket
import threading

import pytest

from rebalance_engine.network.reports import TOKEN, Answer, Verdict, check_url, in_thread, post, token_of
from tests.rebalance_engine.network.loop import on_a_loop

SECRET = "ekr_notforlogs"  # noqa: S105  # opens nothing


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, Verdict.TAKEN),
        (201, Verdict.TAKEN),
        (307, Verdict.LATER),
        (401, Verdict.LATER),
        (403, Verdict.LATER),
        (409, Verdict.REFUSED),
        (413, Verdict.TOO_LARGE),
        (422, Verdict.REFUSED),
        (503, Verdict.LATER),
        (None, Verdict.LATER),
    ],
)
def test_an_answer_says_what_to_do_now(status: int | None, verdict: Verdict) -> None:
    assert Answer(status, "").verdict is verdict


@pytest.mark.parametrize("url", ["http://x:1/", "http://x:1", "http://x:1?a=1", "http://x:1/?a=1#b"])
def test_an_address_without_a_path_is_refused_with_the_one_that_takes_reports(url: str) -> None:
    with pytest.raises(ValueError, match=r"without a path; .* at http://x:1/api/v1/reports$"):
        check_url(url)


@pytest.mark.parametrize("url", ["", "x", "ftp://x/y", "http:///x", "http://[x/", "http://ada:secret@x/y"])
def test_what_is_no_address_is_refused_without_a_password_in_the_words(url: str) -> None:
    with pytest.raises(ValueError, match=r"needed|no address") as refused:
        check_url(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "é", "\x00"])
def test_a_token_that_no_header_takes_is_refused_without_repeating_it(token: str) -> None:
    with pytest.raises(ValueError, match=f"{TOKEN}") as refused:
        token_of({TOKEN: token})
    assert token not in str(refused.value)
    assert token_of({TOKEN: f" {SECRET}\n"}) == SECRET
    assert token_of({}) == ""


def test_nobody_there_is_an_answer_and_the_token_is_not_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as taken:  # bound and not listening: whoever calls is refused
        taken.bind(("127.0.0.1", 0))
        answer = post(f"http://127.0.0.1:{taken.getsockname()[1]}/x", b"{}", token=SECRET, timeout_s=5)

    assert (answer.status, answer.verdict) == (None, Verdict.LATER)
    assert answer.said and SECRET not in answer.said


@on_a_loop
async def test_a_request_that_hangs_is_waited_for_no_longer_than_its_time() -> None:
    let_go = threading.Event()

    def hang() -> Answer:
        let_go.wait(30)
        return Answer(200, "")

    answer = await in_thread(hang, timeout_s=0.05)
    let_go.set()

    assert (answer.status, answer.said) == (None, "no answer within 0.05 s")
    assert await in_thread(lambda: Answer(201, "x")) == Answer(201, "x")


@on_a_loop
async def test_what_a_request_raises_is_an_answer_too() -> None:
    def fail() -> Answer:
        raise RuntimeError(SECRET)

    assert await in_thread(fail) == Answer(None, "RuntimeError")
