from redis import Redis

from dashboard.groups.viewing import FORGOTTEN_AFTER_MS, MOST_VIEWED, note_viewed, viewed
from tests.dashboard.story import T0


def test_a_group_is_viewed_for_half_a_minute_after_it_was_noted(redis: Redis) -> None:
    note_viewed(redis=redis, cluster=1, group="g", now=T0)
    note_viewed(redis=redis, cluster=2, group="other", now=T0)

    assert viewed(redis=redis, cluster=1, now=T0 + FORGOTTEN_AFTER_MS) == {"g"}
    assert viewed(redis=redis, cluster=1, now=T0 + FORGOTTEN_AFTER_MS + 1) == frozenset()


def test_noting_it_again_keeps_it_viewed(redis: Redis) -> None:
    note_viewed(redis=redis, cluster=1, group="g", now=T0)
    note_viewed(redis=redis, cluster=1, group="g", now=T0 + 10_000)

    assert viewed(redis=redis, cluster=1, now=T0 + 10_000 + FORGOTTEN_AFTER_MS) == {"g"}


def test_any_name_is_kept(redis: Redis) -> None:
    for name in ("\0", "\ud800", "é", "\\u0041"):
        note_viewed(redis=redis, cluster=1, group=name, now=T0)

    assert viewed(redis=redis, cluster=1, now=T0) == {"\0", "\ud800", "é", "\\u0041"}


def test_who_notes_without_end_fills_no_memory(redis: Redis) -> None:
    for number in range(MOST_VIEWED + 5):
        note_viewed(redis=redis, cluster=1, group=f"g{number}", now=T0 + number)

    assert len(viewed(redis=redis, cluster=1, now=T0 + MOST_VIEWED)) == MOST_VIEWED


def test_without_redis_nobody_is_taken_to_look() -> None:
    with Redis.from_url("redis://127.0.0.1:1/0", socket_timeout=1, socket_connect_timeout=1) as nobody:
        note_viewed(redis=nobody, cluster=1, group="g", now=T0)

        assert viewed(redis=nobody, cluster=1, now=T0) == frozenset()
