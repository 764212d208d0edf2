import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebalance_engine import cli, eventlog
from rebalance_engine.cli import simulate
from rebalance_engine.cli.simulate import processes
from rebalance_engine.cli.workers import WorkerLost
from rebalance_engine.events import QueueTaken
from rebalance_engine.simulation.scenario import write
from tests.rebalance_engine.simulation.found_at import BUGS
from tests.rebalance_engine.simulation.small import CLUSTER, cluster


def test_seeds_that_hold_end_with_one_line_of_figures(capsys: pytest.CaptureFixture[str]) -> None:
    status = cli.main(["simulate", "--seeds", "2", "--first", "5"])

    [line] = capsys.readouterr().out.splitlines()
    assert status == 0
    assert line.startswith("2 seeds, ")
    assert all(word in line for word in (" events, ", " moves, ", " overlaps, ", " duplicates"))


@pytest.mark.parametrize("first", [20261121, 2**63 - 1])
def test_seeds_may_begin_anywhere(first: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "--first", str(first)]) == 0
    assert capsys.readouterr().out.startswith("1 seed, ")


def test_the_limits_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["simulate", "--help"])

    told = " ".join(capsys.readouterr().out.split())
    assert "10000000 at most" in told
    assert "from 0 to 9223372036854775807" in told


@pytest.mark.parametrize("is_played", [False, True])
def test_who_does_not_read_on_is_no_mistake_of_the_arguments(is_played: bool, tmp_path: Path) -> None:
    path = tmp_path / "scenario.txt"
    path.write_text(write(cluster()))
    command = [sys.executable, "-m", "rebalance_engine", "simulate", *(["--play", str(path)] if is_played else [])]
    reading, writing = os.pipe()
    os.close(reading)

    with os.fdopen(writing, "wb") as nobody_reads:
        ended = subprocess.run(command, check=False, stdout=nobody_reads, stderr=subprocess.PIPE, timeout=60)

    assert (ended.returncode, ended.stderr) == (1, b"")


@pytest.mark.parametrize("arguments", [[], ["--log", "/dev/full"]])
def test_a_full_disk_is_no_mistake_of_the_arguments_or_of_a_machine(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "rebalance_engine", "simulate", *arguments]

    with Path("/dev/full").open("wb") as full:
        out = subprocess.PIPE if arguments else full
        ended = subprocess.run(command, check=False, stdout=out, stderr=subprocess.PIPE, timeout=60)

    assert ended.returncode == 1
    assert b"No space left on device" in ended.stderr
    assert not ended.stdout or b"broke" not in ended.stdout


def test_several_jobs_come_to_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["simulate", "--seeds", "4"])
    cli.main(["simulate", "--seeds", "4", "--jobs", "2"])

    alone, together = capsys.readouterr().out.splitlines()
    assert alone == together


def test_a_seed_that_fails_is_told_as_small_as_can_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    BUGS["dropped_queues_are_still_consumed"](monkeypatch)

    status = cli.main(["simulate", "--first", "3"])

    told = capsys.readouterr().out
    assert status == 1
    assert told.startswith("seed 3 broke after ")
    assert "\n# promised: a client keeps the pauses of its version\n" in told
    assert len([line for line in told.splitlines() if " start " in line]) <= 4
    assert "\n----\n" in told
    assert "# played again: exactly the same" in told
    assert told.endswith("; 1 failed\n")


def test_a_seed_that_fails_is_played_again_however_large_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    BUGS["first_pulls_come_at_once"](monkeypatch)

    status = cli.main(["simulate", "--first", "90000000"])

    told = capsys.readouterr().out
    assert status == 1
    assert "\nseed 90000000\n" in told
    assert "# played again: exactly the same" in told


def test_a_scenario_is_played_with_what_happened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scenario.txt"
    path.write_text(write(cluster()))

    status = cli.main(["simulate", "--play", str(path)])

    told = capsys.readouterr().out
    assert status == 0
    assert told.startswith(path.read_text())
    assert told.endswith("nothing was broken\n")


def test_a_scenario_that_breaks_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    BUGS["first_pulls_come_at_once"](monkeypatch)
    path = tmp_path / "scenario.txt"
    path.write_text(write(cluster()))

    assert cli.main(["simulate", "--play", str(path)]) == 1
    assert " broken: A pulls orders/" in capsys.readouterr().out


def test_a_scenario_that_ends_too_soon_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scenario.txt"
    path.write_text(write(cluster("70000 kill A", ends_at=70_050)))

    with pytest.raises(SystemExit) as end:
        cli.main(["simulate", "--play", str(path)])

    assert end.value.code == 2
    assert "the scenario ends at 70050; it needs to end at " in capsys.readouterr().err


def test_every_fact_can_be_written_down(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"

    cli.main(["simulate", "--first", "1", "--log", str(path)])

    facts = [eventlog.read(line) for line in path.read_text().splitlines()]
    assert len(facts) > 100
    assert any(isinstance(fact, QueueTaken) for fact in facts)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fly"], "invalid choice: 'fly'"),
        (["simulate", "--seed", "5"], "unrecognized arguments: --seed 5"),
        (["simulate", "--seeds", "0"], "'0' is given; needed is a whole number from 1"),
        (["simulate", "--seeds", "many"], "'many' is given"),
        (["simulate", "--seeds", "9" * 99], "needed is a whole number"),
        (["simulate", "--first", "-1"], "'-1' is given; needed is a whole number from 0"),
        (["simulate", "--first", str(2**63)], "needed is a whole number from 0 to 9223372036854775807"),
        (["simulate", "--first", str(2**63 - 1), "--seeds", "2"], "the last seed is 9223372036854775808; it needs to"),
        (["simulate", "--log", "."], "Is a directory"),
        (["simulate", "--first", "²"], "needed is a whole number"),
        (["simulate", "--play", "nowhere.txt"], "No such file"),
        (["simulate", "--jobs", "10000000"], "'10000000' is given; needed is a whole number from 1 to 256"),
        (["simulate", "--jobs", "0"], "'0' is given"),
        (["simulate", "--first", "0" * 28 + "7"], "9223372036854775807, of 20 digits at most"),
        (["simulate", "--first", "0" * 5_000], "of 20 digits at most"),
        (["simulate", "--jobs", "2", "--log", "facts.jsonl"], "one process alone can write the log"),
        (["simulate", "--play", "a.txt", "--seeds", "2", "--first", "9"], "together with --seeds, --first"),
    ],
)
def test_bad_arguments_end_with_2_and_a_sentence(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)

    assert end.value.code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(("jobs", "seeds", "needed"), [(1, 300, 1), (4, 300, 4), (256, 9, 9), (2, 1, 1)])
def test_no_more_processes_are_started_than_have_something_to_do(jobs: int, seeds: int, needed: int) -> None:
    assert processes(jobs, seeds) == needed


@pytest.mark.parametrize("text", ["", "broker east 1.x\n", "seed 1\n5 kill Z\n"])
def test_a_scenario_that_makes_no_sense_ends_with_2(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.txt"
    path.write_text(text)

    with pytest.raises(SystemExit) as end:
        cli.main(["simulate", "--play", str(path)])

    assert end.value.code == 2
    assert "there is no" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("60000 grow orders east 2", "'60000 grow orders east 2': orders has 4 queues on east"),
        ("60000 start A java-5.5.0", "'60000 start A java-5.5.0': A runs already"),
        ("topic or/ders 4", "'topic or/ders 4': the topic is 'or/ders'"),
    ],
)
def test_a_line_that_makes_no_sense_ends_with_2_and_its_number(
    line: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.txt"
    path.write_text(f"{CLUSTER}{line}\nends at 120000\n")

    with pytest.raises(SystemExit) as end:
        cli.main(["simulate", "--play", str(path)])

    assert end.value.code == 2
    assert f"line 13, {complaint}" in capsys.readouterr().err


def test_a_file_that_says_no_scenario_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scenario.txt"
    path.write_text("tea now\n")

    with pytest.raises(SystemExit) as end:
        cli.main(["simulate", "--play", str(path)])

    assert end.value.code == 2
    assert "line 1, 'tea now'" in capsys.readouterr().err


def test_each_line_of_the_log_says_of_which_seed_it_is(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"

    cli.main(["simulate", "--seeds", "2", "--first", "1", "--log", str(path)])

    clusters = [eventlog.read(line).source.cluster for line in path.read_text().splitlines()]
    assert clusters == sorted(clusters, key=str)
    assert set(clusters) == {"seed 1", "seed 2"}


@pytest.mark.parametrize("seed", [2, 11])
def test_the_same_seed_is_the_same_log_in_every_process(tmp_path: Path, seed: int) -> None:
    logs = [tmp_path / f"{hash_seed}.jsonl" for hash_seed in (1, 2)]

    for hash_seed, log in enumerate(logs, start=1):
        command = [sys.executable, "-m", "rebalance_engine", "simulate", "--first", str(seed), "--log", str(log)]
        subprocess.run(command, check=True, env={"PYTHONHASHSEED": str(hash_seed)}, stdout=subprocess.DEVNULL)

    first, second = (log.read_bytes() for log in logs)
    assert first
    assert first == second


def test_a_broken_promise_counts_more_than_a_process_that_was_lost_after_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    BUGS["first_pulls_come_at_once"](monkeypatch)
    outcomes = simulate._outcomes

    def then_lost(*given: object) -> Iterator[object]:
        yield from outcomes(*given)  # type: ignore[arg-type]
        raise WorkerLost("ended with 7", 9, 8)

    monkeypatch.setattr(simulate, "_outcomes", then_lost)

    assert cli.main(["simulate", "--seeds", "1", "--first", "90000000"]) == 1
    assert "--first 8 goes on there. Until then: 1 seed, " in capsys.readouterr().err
