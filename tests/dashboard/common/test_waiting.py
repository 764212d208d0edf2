from __future__ import annotations

import logging
import threading

import pytest
from django.db import OperationalError, connection, transaction

from dashboard.clusters.models import Cluster
from dashboard.common.waiting import later_if_away, no_waiting, wait_at_most
from tests.dashboard.story import add_cluster


class Holder(threading.Thread):
    """Another that writes to the same row, and lets it go when it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.holds, self.may_go = threading.Event(), threading.Event()

    def run(self) -> None:
        try:
            with transaction.atomic():
                Cluster.objects.update(namesrv="of another")
                self.holds.set()
                self.may_go.wait(60)
        finally:
            connection.close()


@pytest.mark.django_db(transaction=True)
def test_what_another_holds_is_not_waited_for() -> None:
    add_cluster()
    another = Holder()
    another.start()
    try:
        assert another.holds.wait(60)
        with pytest.raises(OperationalError), no_waiting():
            Cluster.objects.update(namesrv="mine")
        assert another.is_alive(), "it holds it still"
    finally:
        another.may_go.set()
        another.join(60)

    with no_waiting():
        Cluster.objects.filter(namesrv="of another").update(namesrv="mine")
    assert Cluster.objects.get().namesrv == "mine"


@pytest.mark.django_db
def test_others_wait_as_long_as_before() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL ends it with the transaction")

    def patience() -> object:
        with connection.cursor() as cursor:
            return cursor.execute("PRAGMA busy_timeout").fetchone()[0]

    before = patience()
    with no_waiting():
        assert patience() == 0
    with no_waiting(sqlite_ms=70):
        assert patience() == 70
    assert patience() == before


@pytest.mark.django_db
def test_how_long_a_process_waits_may_be_set() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no one lock for all")
    before = connection.settings_dict["OPTIONS"]
    wait_at_most(3)
    try:
        assert connection.settings_dict["OPTIONS"] == {**before, "timeout": 3}
    finally:
        connection.settings_dict["OPTIONS"] = before


def test_what_is_done_later_is_one_warning_without_a_stack(caplog: pytest.LogCaptureFixture) -> None:
    with later_if_away("the work"):
        raise OperationalError("database is locked")

    [record] = caplog.records
    assert (record.levelno, record.exc_info) == (logging.WARNING, None)
    assert record.getMessage() == "the work is done later, the database does not answer: database is locked"
    with pytest.raises(ZeroDivisionError), later_if_away("the work"):
        raise ZeroDivisionError


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has other errors for it")
def test_a_statement_that_never_goes_well_is_an_error() -> None:
    with pytest.raises(OperationalError), later_if_away("the work"):
        raise OperationalError("too many SQL variables")
