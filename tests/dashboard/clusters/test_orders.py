from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.clusters.orders import ABANDONED, NEVER_TAKEN, UNTOLD, Done, finish, take
from rebalance_engine.events import CommandOutcome, ReceiptAnswer
from tests.dashboard.story import T0


def order(cluster: Cluster, *, at: int = 0, within: int = 1_000, epoch: int | None = None) -> Command:
    return Command.objects.create(
        cluster=cluster,
        verb="group.recompute",
        group_name="g",
        author_name="ann",
        ordered_at=T0 + at,
        deadline=T0 + at + within,
        taken_at=None if epoch is None else T0 + at,
        taken_epoch=epoch,
    )


def leased(cluster: Cluster, epoch: int) -> Cluster:
    Cluster.objects.filter(pk=cluster.pk).update(lease_epoch=epoch)
    return cluster


def test_orders_are_taken_once_and_oldest_first(cluster: Cluster) -> None:
    leased(cluster, 3)
    second, first = order(cluster, at=20), order(cluster, at=10)

    assert [one.pk for one in take(cluster="shop", epoch=3, now=T0 + 30)] == [first.pk, second.pk]
    assert take(cluster="shop", epoch=3, now=T0 + 31) == []


def test_a_watcher_without_the_lease_takes_nothing(cluster: Cluster) -> None:
    leased(cluster, 3)
    order(cluster)

    assert take(cluster="shop", epoch=2, now=T0) == []


def test_what_is_too_late_or_was_taken_by_a_dead_watcher_ends(cluster: Cluster) -> None:
    leased(cluster, 3)
    late, abandoned = order(cluster, within=5), order(cluster, epoch=2)

    assert take(cluster="shop", epoch=3, now=T0 + 10) == []
    late.refresh_from_db()
    abandoned.refresh_from_db()
    assert (late.outcome, late.detail) == ("expired", NEVER_TAKEN)
    assert (abandoned.outcome, abandoned.detail) == ("failed", ABANDONED)


def test_an_order_ends_once_with_a_receipt_for_each_member(cluster: Cluster) -> None:
    leased(cluster, 3)
    one = order(cluster)
    take(cluster="shop", epoch=3, now=T0 + 1)
    done = Done(CommandOutcome.DONE, "told\0", {"A": ReceiptAnswer.CHANGED, "B": ReceiptAnswer.UNKNOWN})

    assert not finish(order=one.pk, epoch=2, done=done, now=T0 + 2)
    assert finish(order=one.pk, epoch=3, done=done, now=T0 + 2)
    assert not finish(order=one.pk, epoch=3, done=done, now=T0 + 3)
    one.refresh_from_db()
    assert (one.outcome, one.detail, one.finished_at) == ("done", r"told\u0000", T0 + 2)
    assert set(CommandReceipt.objects.values_list("client_id", "answer")) == {("A", "changed"), ("B", "unknown")}


def test_an_order_is_over_no_earlier_than_it_was_taken_though_a_clock_went_back(cluster: Cluster) -> None:
    leased(cluster, 3)
    mine, abandoned = order(cluster, at=20, epoch=3), order(cluster, at=20, epoch=2)

    assert finish(order=mine.pk, epoch=3, done=Done(CommandOutcome.DONE), now=T0 + 10)
    assert take(cluster="shop", epoch=3, now=T0 + 15) == []

    mine.refresh_from_db()
    abandoned.refresh_from_db()
    assert (mine.finished_at, abandoned.finished_at) == (T0 + 20, T0 + 20)


def test_an_order_that_was_taken_and_that_nobody_has_in_hand_ends(cluster: Cluster) -> None:
    leased(cluster, 3)
    in_hand, lost, next_one = order(cluster), order(cluster), order(cluster, at=20)
    take(cluster="shop", epoch=3, now=T0 + 1)

    assert take(cluster="shop", epoch=3, now=T0 + 30, in_hand=[in_hand.pk]) == [next_one]

    ends = {one.pk: (one.outcome, one.detail) for one in Command.objects.exclude(finished_at=None)}
    assert ends == {lost.pk: ("failed", UNTOLD)}
