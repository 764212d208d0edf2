from rebalance_engine.pipeline.layouts import BROKER, CPP, JAVA4, JAVA5, Layout
from rebalance_engine.pipeline.notes import ClusterNotes
from rebalance_engine.pipeline.planning import MOST_HOSTS, MOST_NAMED, details, of_hosts, plan
from rebalance_engine.pipeline.sources import CUT, EMPTY, WIDE, SourceFile


def file(path: str, layout: Layout | None, size: int = 1_234, trouble: str | None = None) -> SourceFile:
    return SourceFile(path, path.partition("/")[0], layout, size, path, "", trouble)


def test_files_are_counted_by_layout_and_small_ones_are_not_nothing() -> None:
    files = [file("a/x.log", JAVA5, 900), file("b/x.log", JAVA5, 80), file("b/broker.log", BROKER, 2_500_000)]

    assert plan(files, files[:2]) == "3 files of 2 hosts: 1 broker (2.5 MB), 2 java5 (1.0 kB); 2 to read"
    assert plan(files[:1], []) == "1 file of 1 host: 1 java5 (0.9 kB); 0 to read"
    assert plan([], []).startswith("nothing to read was found in the folder that --in names")


def test_what_is_empty_or_not_read_is_not_counted_as_to_be_read() -> None:
    files = [file("a/x.log", JAVA5, 900), file("a/y.log", None, 0, EMPTY), file("b/x.log", None, 80, WIDE)]

    assert plan(files, files) == "3 files of 2 hosts: 1 java5 (0.9 kB), 2 unknown (0.1 kB); 1 to read"


def test_each_file_is_named_with_host_layout_and_size() -> None:
    files = [file("a/x.log", JAVA5), file("longer/x.log.gz", BROKER, 12_345_678, CUT)]

    assert details(files, files, (), ClusterNotes()) == [
        "to read:",
        "  a       java5     1.2 kB  a/x.log",
        f"  longer  broker   12.3 MB  longer/x.log.gz: {CUT}",
    ]


def test_of_many_files_the_first_are_named_and_the_others_counted() -> None:
    files = [file(f"h{number:03}/x.log", JAVA5, 1_000_000) for number in range(MOST_NAMED + 9)]

    told = details(files, files, (), ClusterNotes())

    assert len(told) == MOST_NAMED + 2
    assert told[-1] == "  and 9 more, 9.0 MB"


def test_what_would_not_be_read_is_named_with_the_reason_and_what_was_read_before_is_not() -> None:
    files = [file("a/x.log", JAVA5), file("b/x.log", None, trouble=WIDE)]

    assert details(files, files[1:], (), ClusterNotes()) == ["not to be read:", f"  b/x.log: {WIDE}"]


def test_hosts_whose_zone_no_log_can_tell_would_be_refused() -> None:
    files = [file("old/x.log", JAVA4), file("cpp/x.log", CPP), file("told/x.log", JAVA4), file("new/x.log", JAVA5)]

    head, *hosts = details(files, [], ["told"], ClusterNotes())

    assert head == (
        "to be refused, because no broker's log is there: 2 hosts whose logs do not tell the zone of their clocks;"
        " give it, as --zone HOST=ZONE:"
    )
    assert hosts == ["  cpp (cpp)", "  old (java4)"]


def test_where_brokers_logs_are_there_or_were_read_before_they_may_tell_the_zone() -> None:
    notes = ClusterNotes(files={"b/broker.log": {"host": "b", "layout": "broker"}})
    files = [file(f"h{number:02}/x.log", JAVA4) for number in range(MOST_HOSTS + 1)]

    told = details(files, [], (), notes)

    assert told[0] == (
        f"to be refused, unless brokers' logs tell it: {MOST_HOSTS + 1} hosts whose logs do not tell the zone of"
        " their clocks:"
    )
    assert told[-1] == "  and 1 more"
    assert details(files[:1], [], ["h00"], notes) == []


def test_what_is_refused_of_several_hosts_for_one_reason_is_one_sentence() -> None:
    words = "refused: {lines} lines of {hosts} ({layout}): {why}; give it, as --zone {host}=UTC"
    rows = [{"host": f"web{number}", "layout": "java4", "lines": 2} for number in range(23)]

    one = of_hosts(rows[:1], words, why="nobody tells")
    several = of_hosts(rows, words, why="nobody tells")

    assert one == "refused: 2 lines of web0 (java4): nobody tells; give it, as --zone web0=UTC"
    assert several.startswith("refused: 46 lines of 23 hosts, web0, web1, ")
    assert several.endswith("web19 and 3 more (java4): nobody tells; give it, as --zone HOST=UTC")
