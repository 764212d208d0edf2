import json
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from dashboard.history.jobs import LAST, LOGS, Busy, Logs, NoHistory, Programs, clusters_in, last_runs, run_jobs
from dashboard.history.present import end_of
from rebalance_engine.eventlog import write
from rebalance_engine.pipeline.reports import read_report
from tests.rebalance_engine.pipeline.runs import logs
from tests.rebalance_engine.pipeline.test_written import SCENARIO
from tests.rebalance_engine.pipeline.written import GROUP, play

SAYS = "import sys; sys.stderr.write('Spark is off: there is no java'); sys.exit(3)"
WRITES_ARGUMENTS = "import sys, json; sys.stderr.write(json.dumps(sys.argv[1:]) + '\\n')"
NOTES_ITS_END = """
from pathlib import Path
from rebalance_engine.pipeline.notes import read_notes
folder = Path(sys.argv[sys.argv.index("--out") + 1])
notes = read_notes(folder)
notes.of("a").finished += 1
notes.save(folder)
"""
MISSES_SOME = f"""{WRITES_ARGUMENTS}
if sys.argv[1] == "backtest":
    sys.exit()
{NOTES_ITS_END}
sys.exit(1)
"""
FAILS = "import sys; sys.stderr.write('Spark could not go on: OutOfMemoryError'); sys.exit(1)"
FAILS_LATER = MISSES_SOME.replace("sys.exit()", "sys.exit(4)")
WAITS = "import signal, sys; sys.stderr.write('at work, '); sys.stderr.flush(); signal.pause()"


TELLS = "import sys; print(f'1 group of {sys.argv[1]}.\\n\\npage: /x/report.html')"


def program(text: str, *, page: str = TELLS) -> Programs:
    return Programs(pipeline=(sys.executable, "-c", text), page=(sys.executable, "-c", page))


def history(folder: Path, *clusters: str) -> Path:
    for day in ("2026-11-20", "2026-11-21"):
        (folder / "history" / day).mkdir(parents=True)
        for cluster in clusters:
            (folder / "history" / day / f"{cluster}.jsonl").write_text("")
    return folder / "history"


def test_every_cluster_is_run_once_into_a_folder_of_its_own(tmp_path: Path) -> None:
    source, reports = history(tmp_path, "west", "east"), tmp_path / "reports"

    told = run_jobs(history=source, reports=reports, within_s=60, programs=program(WRITES_ARGUMENTS))

    assert clusters_in(source) == list(told) == ["east", "west"]
    to = ["--out", str(reports / "west"), "--cluster=west", "--memory=1024m"]
    assert [json.loads(line) for line in str(told["west"]["said"]).splitlines()] == [
        ["logs", "--in", str(source), *to],
        ["backtest", "--in", str(reports / "west"), *to],
    ]
    assert json.loads((reports / LAST).read_text()) == told


def test_one_cluster_is_run_alone_and_what_is_kept_of_the_others_stays(tmp_path: Path) -> None:
    source, reports = history(tmp_path, "west", "-east"), tmp_path / "reports"
    both = run_jobs(history=source, reports=reports, within_s=60, programs=program(SAYS))

    one = run_jobs(history=source, reports=reports, within_s=60, only="-east", programs=program(WRITES_ARGUMENTS))

    assert str(one["-east"]["said"]).count('"--cluster=-east", ') == 2
    assert json.loads((reports / LAST).read_text()) == both | one
    with pytest.raises(NoHistory, match="no history of 'north'; it has of -east, west"):
        run_jobs(history=source, reports=reports, within_s=60, only="north", programs=program(SAYS))


def test_what_was_read_is_back_tested_also_where_something_was_missed(tmp_path: Path) -> None:
    told = run_jobs(history=history(tmp_path, "a"), reports=tmp_path / "r", within_s=60, programs=program(MISSES_SOME))

    assert told["a"]["status"] == 1
    assert [line.split('"')[1] for line in str(told["a"]["said"]).splitlines()] == ["logs", "backtest"]


def test_a_run_that_failed_is_not_one_that_missed_something(tmp_path: Path) -> None:
    """Both end with 1; the one that has a result notes its end, and the other is not back-tested."""
    source, reports = history(tmp_path, "a"), tmp_path / "r"

    never = run_jobs(history=source, reports=reports, within_s=60, programs=program(FAILS))["a"]
    missed = run_jobs(history=source, reports=reports, within_s=60, programs=program(MISSES_SOME))["a"]
    failed = run_jobs(history=source, reports=reports, within_s=60, programs=program(FAILS))["a"]

    assert (never["status"], never["finished_at"], never["summary"]) == (1, None, None)
    assert (missed["status"], missed["finished_at"]) == (1, missed["at"])
    assert (failed["status"], failed["finished_at"], failed["summary"]) == (1, missed["at"], None)
    assert failed["said"] == "Spark could not go on: OutOfMemoryError"
    assert [end_of(one) for one in (never, missed, failed)] == ["failed", "missed", "failed"]


def test_a_run_whose_back_test_failed_has_not_finished_also_where_something_was_missed(tmp_path: Path) -> None:
    told = run_jobs(history=history(tmp_path, "a"), reports=tmp_path / "r", within_s=60, programs=program(FAILS_LATER))

    assert (told["a"]["status"], told["a"]["finished_at"], end_of(told["a"])) == (4, None, "failed")


def test_who_was_finished_least_recently_comes_first_and_the_memory_is_as_asked(tmp_path: Path) -> None:
    """West is not finished, as there is no time; the night after it comes before those that were."""
    source, reports = history(tmp_path, "east", "north", "west"), tmp_path / "reports"
    fails_west = f"{WRITES_ARGUMENTS}; sys.exit(3 if '--cluster=west' in sys.argv else 0)"

    first = run_jobs(history=source, reports=reports, within_s=60, programs=program(fails_west))
    second = run_jobs(history=source, reports=reports, within_s=60, only="east", programs=program(WRITES_ARGUMENTS))
    third = run_jobs(history=source, reports=reports, within_s=60, memory_mb=4096, programs=program(WRITES_ARGUMENTS))

    assert list(first) == ["east", "north", "west"]
    assert (first["west"]["finished_at"], second["east"]["finished_at"]) == (None, second["east"]["at"])
    assert list(third) == ["west", "north", "east"]
    assert str(third["west"]["said"]).count("--memory=4096m") == 2


def test_rocketmqs_own_logs_are_read_beside_the_history_into_a_report_of_their_own(tmp_path: Path) -> None:
    """A folder that no cluster can have, without a cluster's name, and with the zones that were given."""
    source, reports = history(tmp_path, "east"), tmp_path / "reports"
    own = Logs(tmp_path / "logs", {"web1": "Europe/Berlin"})

    told = run_jobs(history=source, reports=reports, within_s=60, logs=own, programs=program(WRITES_ARGUMENTS))

    assert list(told) == ["east", LOGS]
    more = ["--out", str(reports / LOGS), "--zone=web1=Europe/Berlin", "--memory=1024m"]
    assert [json.loads(line) for line in str(told[LOGS]["said"]).splitlines()] == [
        ["logs", "--in", str(tmp_path / "logs"), *more],
        ["backtest", "--in", str(reports / LOGS), *more],
    ]
    alone = run_jobs(
        history=source, reports=reports, within_s=60, only=LOGS, logs=own, programs=program(WRITES_ARGUMENTS)
    )
    assert list(alone) == [LOGS]
    assert last_runs(reports).keys() == {"east", LOGS}
    with pytest.raises(NoHistory, match="EVENKEEL_LOGS"):
        run_jobs(history=source, reports=reports, within_s=60, only=LOGS, programs=program(SAYS))


def test_a_run_that_ended_has_its_summary_and_page_and_others_have_none(tmp_path: Path) -> None:
    source, reports = history(tmp_path, "a"), tmp_path / "reports"

    ended = run_jobs(history=source, reports=reports, within_s=60, programs=program(MISSES_SOME))
    assert ended["a"]["summary"] == f"1 group of {reports / 'a'}."

    no_page = run_jobs(history=source, reports=reports, within_s=60, programs=program(MISSES_SOME, page=SAYS))
    assert no_page["a"]["summary"] is None

    off = run_jobs(history=source, reports=reports, within_s=60, programs=program(SAYS))
    assert off["a"]["summary"] is None
    assert off["a"]["finished_at"] == no_page["a"]["at"]


def test_why_spark_is_off_is_kept(tmp_path: Path) -> None:
    told = run_jobs(history=history(tmp_path, "a"), reports=tmp_path / "r", within_s=60, programs=program(SAYS))

    assert (told["a"]["status"], told["a"]["said"]) == (3, "Spark is off: there is no java")


def test_a_run_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    told = run_jobs(history=history(tmp_path, "a"), reports=tmp_path / "r", within_s=0, programs=program(WAITS))

    assert told["a"]["status"] == -signal.SIGTERM
    assert "no time was left" in str(told["a"]["said"])


def test_a_second_run_is_refused_while_one_is_at_work(tmp_path: Path) -> None:
    source, reports = history(tmp_path, "a"), tmp_path / "reports"
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    waits = f"f = open({str(fifo)!r}, 'w'); f.write('x'); f.close(); open({str(fifo)!r}).read(); raise SystemExit(3)"
    first = threading.Thread(
        target=run_jobs, kwargs={"history": source, "reports": reports, "within_s": 60, "programs": program(waits)}
    )
    first.start()
    fifo.read_text()

    with pytest.raises(Busy, match="one at a time"):
        run_jobs(history=source, reports=reports, within_s=60, programs=program(SAYS))

    fifo.write_text("end")
    first.join(60)
    assert not first.is_alive()


@pytest.mark.spark
@pytest.mark.slow
def test_the_pipeline_itself_reads_what_was_recorded_and_replays_it(tmp_path: Path) -> None:
    path = tmp_path / "history" / "2026-11-21" / "east.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{write(fact)}\n" for fact in play(SCENARIO.format(profile="java-5.5.0"))))

    told = run_jobs(history=tmp_path / "history", reports=tmp_path / "reports", within_s=1_200)

    said = str(told["east"]["said"])
    assert (told["east"]["status"], "Traceback" in said) == (0, False), said
    report = read_report(tmp_path / "reports" / "east")
    assert report.round_count >= 5
    assert report.handoff_count == len(report.handoffs) > 0
    assert {row["group"] for row in report.backtest if row["is_best"]} == {GROUP}
    assert f"{GROUP} " in str(told["east"]["summary"])


@pytest.mark.spark
@pytest.mark.slow
def test_the_pipeline_itself_reads_rocketmqs_logs_and_makes_their_page(tmp_path: Path) -> None:
    recorded = Logs(logs("scale_out-4.9.7"), {"p1": "UTC"})
    history(tmp_path)

    told = run_jobs(
        history=tmp_path / "history", reports=tmp_path / "reports", within_s=1_200, logs=recorded, only=LOGS
    )

    assert told[LOGS]["status"] == 0, told[LOGS]["said"]
    assert "1 group, 7 rounds, 49 handoffs." in str(told[LOGS]["summary"])
    assert "What rebalancing cost" in (tmp_path / "reports" / LOGS / "report.html").read_text()
