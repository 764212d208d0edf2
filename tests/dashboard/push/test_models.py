from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction

from dashboard.push.models import Server, Step, Stream, Tally
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import assert_refused, assert_unique, store

pytestmark = pytest.mark.django_db


def test_a_stream_has_a_name_and_goes_on_from_0() -> None:
    assert_refused(Stream, {"name": "group-1"}, {"name": ""}, {"seq": -1})
    assert_unique(Stream, {"name": "group-1"}, name="group-2")


def test_a_stream_never_goes_back() -> None:
    Stream.objects.create(name="group-1", seq=5)

    with pytest.raises(DatabaseError, match="never becomes less"), transaction.atomic():
        Stream.objects.update(seq=4)


def test_a_step_is_there_once_with_a_body() -> None:
    columns = {"stream": store(Stream, name="group-1"), "seq": 1, "at": T0, "body": b"{}"}

    assert_refused(Step, columns, {"seq": 0}, {"body": b""}, {"at": -1})
    assert_unique(Step, columns, seq=2)


def test_what_is_counted_has_a_kind_and_a_process_a_name() -> None:
    assert_refused(Tally, {"kind": "x"}, {"kind": ""}, {"count": -1})
    assert_unique(Tally, {"kind": "x"}, kind="y")
    assert_refused(Server, {"process": "a:1", "at": T0, "sockets": 0}, {"process": ""}, {"at": -1}, {"sockets": -1})
    assert_unique(Server, {"process": "a:1", "at": T0, "sockets": 0}, process="a:2")
