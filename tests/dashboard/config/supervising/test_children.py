import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.config.supervising.children import (
    BEAT,
    CLIENTS,
    DEMO,
    JOBS,
    PREPARED,
    REDIS,
    WEB,
    WORKER,
    Places,
    Wanted,
    children,
    in_our_words,
    redis_program,
    redis_settings,
    start_of,
    watcher,
)
from dashboard.config.supervising.machine import (
    STOP_WITHIN_MS,
    Added,
    Answered,
    Event,
    Exited,
    Kill,
    Over,
    Reached,
    Stop,
    Supervisor,
    Terminate,
    WakeAt,
    Woken,
)
from dashboard.config.supervising.running import OWN_NAME
from tests.house.project import ROOT

NAME = re.compile(r"`([^`]+)`")

HOME = Path("/home/of/evenkeel")
ALL = Wanted(home=HOME, has_own_redis=True, has_demo=True)
PLACES = Places(
    redis_url="redis://:word@127.0.0.1:16000/0",
    redis_port=16_000,
    host="::1",
    web=7,
    door=8,
    gate=9,
    namesrv_port=15_000,
)


def test_alone_it_has_everything() -> None:
    assert [child.name for child in children(ALL)] == [REDIS, DEMO, WEB, WORKER, BEAT]


def test_the_page_about_running_names_every_process_as_its_lines_do() -> None:
    everything = children(replace(ALL, has_jobs=True))
    rows = (ROOT / "docs" / "running.md").read_text().partition("## The processes")[2].partition("\n\n`")[0]
    named = [name for row in rows.splitlines() if row.startswith("| `") for name in NAME.findall(row.split("|")[1])]

    assert sorted(named) == sorted(
        [OWN_NAME, *(child.name for child in everything), watcher("NAME", is_demo=False).name]
    )


def test_a_redis_and_a_cluster_of_others_are_not_started() -> None:
    theirs = children(Wanted(home=HOME, has_own_redis=False, has_demo=False))

    assert [child.name for child in theirs] == [WEB, WORKER, BEAT]
    assert all(REDIS not in child.needs for child in theirs)


def test_jobs_have_a_worker_of_their_own_where_there_is_java() -> None:
    with_java = Wanted(home=HOME, has_own_redis=True, has_demo=False, has_jobs=True)

    assert [child.name for child in children(with_java)] == [REDIS, WEB, WORKER, BEAT, JOBS]
    words = start_of(JOBS, with_java, PLACES).arguments
    assert {"--queues=jobs", "--concurrency=1", "--hostname=jobs@%h"} < set(words)


def test_nobody_imports_beside_the_pages_that_somebody_waits_for() -> None:
    needs = {child.name: child.needs for child in children(ALL)}

    assert WEB in needs[WORKER]
    assert WORKER in needs[BEAT]


def test_who_uses_others_is_stopped_before_them() -> None:
    level = {child.name: child.level for child in (*children(ALL), watcher("demo", is_demo=True))}

    assert level[WEB] == level[WORKER] == level[BEAT] == level["watch demo"] > level[DEMO] > level[REDIS]


def end_of_all(clients_end_after: int) -> tuple[int, list[str]]:
    """Stop a home whose clients end so late, and whose others never do: when all are gone, and who was killed."""
    ours, supervisor = (*children(ALL), watcher("demo", is_demo=True)), Supervisor()
    began: list[Event] = [*map(Added, ours), Reached(PREPARED), *(Answered(each.name) for each in ours)]
    for event in began:
        supervisor.handle(event, 0)
    level = {child.name: child.level for child in ours}
    at, killed, ends, heard = 0, list[str](), dict[str, int](), list[Event]([Stop()])
    while True:
        effects = [effect for event in heard for effect in supervisor.handle(event, at)]
        if any(isinstance(effect, Over) for effect in effects):
            return at, killed
        for effect in effects:
            if isinstance(effect, Terminate) and level[effect.name] == CLIENTS:
                ends[effect.name] = at + clients_end_after
            elif isinstance(effect, Kill):
                killed.append(effect.name)
                ends[effect.name] = at
        wakes = [effect.at for effect in effects if isinstance(effect, WakeAt)]
        at = min([*ends.values(), *wakes])
        heard = [Exited(name, 0) for name in [*ends] if ends[name] <= at] or [Woken()]
        ends = {name: end for name, end in ends.items() if end > at}


def test_all_ends_fit_into_the_time_of_a_stop() -> None:
    late, killed = end_of_all(60_000)

    assert late <= STOP_WITHIN_MS <= 16_000  # of the 20 s that are promised
    assert killed[-2:] == [DEMO, REDIS]


def test_what_its_clients_do_not_take_the_demo_may() -> None:
    quick, killed = end_of_all(2_000)

    assert killed == [DEMO, REDIS]
    assert quick == 2_000 + 9_000 + 2_000  # at a load of 8 it needs more than 3 s


def test_no_process_of_ours_is_taken_apart_at_its_end() -> None:
    for name in (WORKER, BEAT, JOBS, DEMO):
        assert start_of(name, ALL, PLACES).arguments[:3] == (sys.executable, "-m", "dashboard.config.leaving")


def test_only_the_demos_watcher_waits_for_the_demo() -> None:
    assert watcher("demo", is_demo=True).needs == {DEMO}
    assert watcher("shop", is_demo=False).needs == frozenset()


def test_pages_and_watchers_are_loaded_while_tables_are_prepared_and_pass_the_gate_after() -> None:
    web = next(child for child in children(ALL) if child.name == WEB)

    assert web.needs == {REDIS}
    assert web.answers_after == PREPARED
    for name in (WEB, "watch shop"):
        start = start_of(name, ALL, PLACES)
        assert start.arguments[start.arguments.index("--gate") + 1] == "9"
        assert 9 in start.descriptors


def test_every_process_of_ours_is_told_its_home_and_its_redis() -> None:
    for name in (WEB, WORKER, BEAT, DEMO, "watch shop"):
        start = start_of(name, ALL, PLACES)

        assert start.env["EVENKEEL_HOME"] == str(HOME)
        assert start.env["REDIS_URL"] == PLACES.redis_url
        assert not any("word" in argument for argument in start.arguments)  # arguments are seen by everybody


def test_the_web_process_inherits_the_socket_that_listens() -> None:
    start = start_of(WEB, ALL, PLACES)

    assert start.descriptors == (7, 8, 9)
    assert start.arguments[-8:] == ("web", "--host=::1", "--fd", "7", "--door", "8", "--gate", "9")


def test_a_watcher_is_told_the_name_of_its_cluster() -> None:
    assert start_of("watch 10.0.0.1:9876;10.0.0.2:9876", ALL, PLACES).arguments[-2:] == (
        "--",
        "10.0.0.1:9876;10.0.0.2:9876",
    )


def test_there_is_no_process_of_another_name() -> None:
    with pytest.raises(KeyError):
        start_of("spark", ALL, PLACES)


def test_our_redis_is_for_loopback_with_a_password_and_keeps_nothing(tmp_path: Path) -> None:
    settings = redis_settings(16_000, "word", tmp_path).splitlines()

    assert {"bind 127.0.0.1", "port 16000", "requirepass word", 'save ""', "appendonly no"} <= set(settings)
    assert redis_program().is_file()


def test_what_a_library_prints_at_its_end_is_said_in_our_words() -> None:
    assert in_our_words("worker: Warm shutdown (MainProcess)") == "stopping: what it works at is finished first"
    assert in_our_words("worker: Hitting Ctrl+C again will terminate all running tasks!") == ""
    assert in_our_words("billing-4 joins billing") == "billing-4 joins billing"
