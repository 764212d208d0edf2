import pytest

from rebalance_engine.remoting import codec, fastjson
from rebalance_engine.remoting.errors import BrokenContent
from tests.rebalance_engine.remoting.fuzz import CHECKS, main, run


def test_a_short_run_finds_nothing_and_reaches_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", "1200"]) == 0

    said = capsys.readouterr().out
    kinds = ("frames", "contents", "bodies", "messages", "packs", "headers")
    assert [kind for kind in kinds if f"sound {kind}" not in said or f"broken {kind}" not in said] == []
    assert len(kinds) == len(CHECKS)


@pytest.mark.parametrize("cases", ["0", "-1", "many"])
def test_a_run_that_would_check_nothing_is_refused(cases: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--cases", cases])

    assert end.value.code == 2
    assert f"'{cases}'" in capsys.readouterr().err


def test_a_case_is_its_number() -> None:
    assert run(17, 60) == run(17, 30) + run(47, 30)


def test_a_planted_bug_is_found_and_can_be_had_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forgetful(_body: object) -> object:
        raise KeyError("brokerName")

    monkeypatch.setattr(fastjson, "read", forgetful)

    assert main(["--first", "0", "--cases", "10"]) == 1
    assert "KeyError: 'brokerName'" in (said := capsys.readouterr().out)
    assert "case 2: --first 2 --cases 1" in said
    assert main(["--first", "2", "--cases", "1"]) == 1


def test_a_value_that_is_written_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "_encode_body", lambda _: b"")

    with pytest.raises((AssertionError, BrokenContent)):
        run(0, 600)
