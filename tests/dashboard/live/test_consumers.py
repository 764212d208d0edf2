"""The socket from the outside: who comes in, what is answered, and that nothing is missed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.live import consumers
from dashboard.live.consumers import LiveConsumer, Question, read_question
from dashboard.live.hub import hub
from dashboard.people.roles import Role
from dashboard.push.group_diffs import apply
from dashboard.push.messages import GroupDiff, GroupSnapshot, OverviewDiff, OverviewSnapshot, Pulse
from dashboard.push.models import Server
from dashboard.push.publish import group_state, pulse
from dashboard.push.tallies import Kind, counts
from tests.dashboard.persons import person
from tests.dashboard.sockets import Browser, sending_by
from tests.dashboard.story import T0, add_cluster, held, joined, route, seen, told

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def viewer() -> User:
    add_cluster()
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    return person()


def turn(at: int) -> Group:
    group = Group.objects.get(name="g")
    rebalance_once(group=group.pk, now=T0 + at)
    return group


def join(client: str, at: int) -> None:
    told(joined(client, at, low=at - 1_000), held(client, at + 100, []))
    turn(at + 200)


def stream() -> str:
    return f"group-{Group.objects.get(name='g').pk}"


@async_to_sync
async def hear(user: User, *questions: dict[str, object], most: int = 1) -> list[object]:
    async with Browser(user) as browser:
        for question in questions:
            await browser.ask(**question)
        return [await browser.hear() for _ in range(most)]


def test_who_has_nothing_gets_a_snapshot(viewer: User) -> None:
    [message] = hear(viewer, {"follow": stream(), "seq": None})

    assert isinstance(message, GroupSnapshot)
    assert message.state == group_state(group=Group.objects.get().pk)


def test_who_was_away_gets_the_steps_that_it_missed(viewer: User) -> None:
    [snapshot] = hear(viewer, {"follow": stream(), "seq": None})
    assert isinstance(snapshot, GroupSnapshot)
    join("C", 5_000)
    join("D", 15_000)

    steps = hear(viewer, {"follow": stream(), "seq": snapshot.seq}, most=2)

    state = snapshot.state
    for each in steps:
        assert isinstance(each, GroupDiff)
        state = apply(state, each)
    assert state == group_state(group=Group.objects.get().pk)


def test_a_change_reaches_whoever_looks(viewer: User) -> None:
    @async_to_sync
    async def look() -> tuple[object, object]:
        async with Browser(viewer) as browser:
            await browser.ask(follow=await sync_to_async(stream)(), seq=None)
            first = await browser.hear()
            await sync_to_async(join)("C", 5_000)
            return first, await browser.hear()

    first, second = look()

    assert isinstance(first, GroupSnapshot)
    assert isinstance(second, GroupDiff)
    assert second.seq == first.seq + 1
    assert [cell.client for cell in second.put] == ["C"]


def test_a_pulse_is_passed_on(viewer: User) -> None:
    @async_to_sync
    async def look() -> object:
        async with Browser(viewer) as browser:
            name = await sync_to_async(stream)()
            await browser.ask(follow=name, seq=None)
            await browser.hear()
            await sync_to_async(pulse)(stream=name, seen=(), at=T0 + 50, watched_at=T0)
            return await browser.hear()

    assert isinstance(look(), Pulse)


def test_now_and_then_a_socket_says_how_far_its_streams_are(viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "BEAT_S", 0.05)

    snapshot, beat = hear(viewer, {"follow": stream(), "seq": None}, most=2)

    assert isinstance(snapshot, GroupSnapshot)
    assert isinstance(beat, Pulse)
    assert beat.seq == snapshot.seq
    assert {look.client: look.at for look in beat.seen} == {"A": T0 + 10, "B": T0 + 10}


def test_who_loses_the_log_in_is_sent_out_at_the_next_beat(viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "BEAT_S", 0.05)

    @async_to_sync
    async def look() -> int:
        async with Browser(viewer) as browser:
            await browser.hears_nothing()
            await sync_to_async(User.objects.filter(pk=viewer.pk).update)(is_active=False)
            return await browser.is_closed()

    assert look() == consumers.LOG_IN


def _expires(user: User) -> None:
    Session.objects.update(expire_date=user.date_joined - timedelta(days=1))


def _has_another_password(user: User) -> None:
    user.set_password("another, and a long one")
    user.save()


@pytest.mark.parametrize("ends", [_expires, _has_another_password, lambda _: Session.objects.all().delete()])
def test_a_socket_ends_with_its_session(
    viewer: User, client: Client, monkeypatch: pytest.MonkeyPatch, ends: Callable[[User], object]
) -> None:
    client.force_login(viewer)
    monkeypatch.setattr(consumers, "BEAT_S", 0.05)

    @async_to_sync
    async def look() -> int:
        async with Browser(viewer, session=client.session) as browser:
            await browser.ask(follow=await sync_to_async(stream)(), seq=None)
            assert isinstance(await browser.hear(), GroupSnapshot)
            assert isinstance(await browser.hear(), Pulse)
            await sync_to_async(ends)(viewer)
            return await browser.ends()

    assert look() == consumers.LOG_IN


def test_a_message_that_was_lost_on_the_way_is_made_good(viewer: User) -> None:
    @async_to_sync
    async def look() -> list[object]:
        async with Browser(viewer) as browser:
            name = await sync_to_async(stream)()
            await browser.ask(follow=name, seq=None)
            heard: list[object] = [await browser.hear()]
            layer = get_channel_layer()
            groups, layer.groups = layer.groups, {}  # nobody hears the next one
            await sync_to_async(join)("C", 5_000)
            layer.groups = groups
            await sync_to_async(join)("D", 15_000)
            return [*heard, await browser.hear(), await browser.hear()]

    numbers = [getattr(message, "seq", None) for message in look()]

    assert numbers == list(range(int(numbers[0] or 0), int(numbers[0] or 0) + 3))


def test_the_overview_shows_each_person_its_own_groups(viewer: User) -> None:
    told(*seen("X", group="hidden"))
    limited = person(Role.VIEWER, name="limited", groups="g")
    name = f"overview-{Cluster.objects.get().pk}"

    [all_rows] = hear(viewer, {"follow": name, "seq": None})
    [own_rows] = hear(limited, {"follow": name, "seq": None})

    assert isinstance(all_rows, OverviewSnapshot)
    assert isinstance(own_rows, OverviewSnapshot)
    assert [row.group for row in all_rows.rows] == ["g", "hidden"]
    assert [row.group for row in own_rows.rows] == ["g"]


def test_rows_of_other_groups_are_not_pushed_either(viewer: User) -> None:
    told(*seen("X", group="hidden"))
    limited = person(Role.VIEWER, name="limited", groups="g")
    name = f"overview-{Cluster.objects.get().pk}"

    @async_to_sync
    async def look() -> list[object]:
        async with Browser(limited) as browser:
            await browser.ask(follow=name, seq=None)
            await browser.hear()
            hidden = await sync_to_async(Group.objects.get)(name="hidden")
            await sync_to_async(rebalance_once)(group=hidden.pk, now=T0 + 100)
            await sync_to_async(join)("C", 5_000)
            return [await browser.hear(), await browser.hear()]

    rows = [[row.group for row in message.put] for message in look() if isinstance(message, OverviewDiff)]

    assert rows == [[], ["g"]]
    del viewer


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '"x"', '{"follow": 1, "seq": null}', '{"follow": "x"}', "x" * 500, "[" * 300]
)
def test_what_is_not_understood_ends_the_socket(viewer: User, text: str) -> None:
    @async_to_sync
    async def look() -> int:
        async with Browser(viewer) as browser:
            await browser.say(text)
            return await browser.is_closed()

    assert look() == consumers.NOT_UNDERSTOOD


@pytest.mark.parametrize(
    "origin", [None, "http://evil.example", "http://testserver:81", "null", "http://testserver.evil.example"]
)
def test_pages_of_others_cannot_open_a_socket(viewer: User, origin: str | None) -> None:
    @async_to_sync
    async def look() -> int:
        async with Browser(viewer, origin=origin) as browser:
            return await browser.is_closed()

    assert look() == consumers.NOT_FOR_YOU


def test_who_asks_without_end_is_sent_out(viewer: User) -> None:
    @async_to_sync
    async def look() -> int:
        async with Browser(viewer) as browser:
            for _ in range(consumers.MOST_QUESTIONS + 1):
                await browser.ask(unfollow="x")
            return await browser.is_closed()

    assert look() == consumers.TOO_MUCH


def test_what_comes_after_the_end_closes_nothing_again(viewer: User) -> None:
    @async_to_sync
    async def look() -> list[int]:
        consumer, closed = LiveConsumer(), list[int]()

        async def send(message: dict[str, object]) -> None:
            closed.append(int(str(message["code"])))

        consumer.base_send, consumer.questions, consumer.is_closed = send, consumers.MOST_QUESTIONS, False
        await consumer.receive("one too many")
        await consumer.receive("and one more")
        return closed

    del viewer
    assert look() == [consumers.TOO_MUCH]


def test_one_person_has_only_so_many_sockets(viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "MOST_SOCKETS", 1)

    @async_to_sync
    async def look() -> int:
        async with Browser(viewer) as first:
            assert await first.hears_nothing()
            async with Browser(viewer) as second:
                return await second.is_closed()

    assert look() == consumers.TOO_MUCH
    assert LiveConsumer.sockets[viewer.username] == 0


def test_without_redis_a_browser_is_told_to_come_back_and_nothing_of_it_is_left(
    viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_named: object) -> None:
        raise ConnectionError("no Redis")

    @async_to_sync
    async def look() -> int:
        async with Browser(viewer) as browser:
            monkeypatch.setattr(hub(), "follow", away)
            await browser.ask(follow=await sync_to_async(stream)(), seq=None)
            return await browser.is_closed()

    assert look() == consumers.TRY_AGAIN_LATER
    assert LiveConsumer.sockets[viewer.username] == 0
    assert (counts()[Kind.WITHOUT_REDIS], Server.objects.get().sockets) == (1, 0)


def test_of_a_socket_that_breaks_nothing_is_left(viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_named: object) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr(consumers, "find_stream", broken)

    @async_to_sync
    async def look() -> None:
        async with Browser(viewer) as browser:
            await browser.ask(follow="group-1", seq=None)
            await browser.is_closed()

    with pytest.raises(OperationalError):
        look()

    assert LiveConsumer.sockets[viewer.username] == 0


def test_a_browser_that_takes_nothing_is_dropped_and_holds_up_nobody(
    viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "SEND_WITHIN_S", 0.1)

    async def never(_message: object) -> None:
        await asyncio.Event().wait()

    @async_to_sync
    async def look() -> tuple[object, int]:
        name = await sync_to_async(stream)()
        async with Browser(viewer) as quick:
            await quick.ask(follow=name, seq=None)
            await quick.hear()
            async with Browser(viewer, application=sending_by(never)) as slow:
                await slow.hears_nothing()
                await slow.ask(follow=name, seq=None)
                code = await slow.is_closed()
                await sync_to_async(join)("C", 5_000)
                return await quick.hear(), code

    message, code = look()

    assert isinstance(message, GroupDiff)
    assert code == consumers.TOO_SLOW
    assert (counts()[Kind.TOO_SLOW], counts()[Kind.NOT_TO_BROWSER]) == (1, 0)


def test_a_browser_that_goes_away_in_the_middle_of_a_message_is_no_error(
    viewer: User, caplog: pytest.LogCaptureFixture
) -> None:
    @async_to_sync
    async def look() -> None:
        name, was_sent = await sync_to_async(stream)(), asyncio.Event()

        async def gone(_message: object) -> None:
            was_sent.set()
            raise ConnectionResetError

        async with Browser(viewer, application=sending_by(gone)) as browser:
            await browser.ask(follow=name, seq=None)
            await asyncio.wait_for(was_sent.wait(), 30)

    with caplog.at_level("DEBUG", logger="dashboard.live.consumers"):
        look()

    assert [(record.levelname, "went away" in record.message) for record in caplog.records] == [("DEBUG", True)]
    assert counts()[Kind.NOT_TO_BROWSER] == 1


def test_questions_are_read_closed_to_anything_else() -> None:
    assert read_question('{"follow": "group-1", "seq": 3}') == Question("group-1", is_follow=True, seq=3)
    assert read_question('{"unfollow": "group-1"}') == Question("group-1", is_follow=False, seq=None)
    for odd in ('{"follow": "x", "seq": -1}', '{"follow": "x", "seq": true}', '{"unfollow": "x", "seq": 1}', None):
        assert read_question(odd) is None
