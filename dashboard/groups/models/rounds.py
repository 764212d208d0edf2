"""Rounds with their causes and moves, and the handoffs that they came to."""

from __future__ import annotations

from enum import Enum

from django.db import models
from django.db.models import F, Q

from dashboard.common.fields import (
    AtField,
    Sourced,
    choices_of,
    in_order,
    instant,
    instants,
    not_empty,
    not_negative,
    one_of,
    sourced_constraints,
)
from dashboard.common.names import NameField, NamesField
from dashboard.common.sayings import in_words
from dashboard.groups.models.group import Group
from rebalance_engine.events import Cause
from rebalance_engine.events.shapes import ANY_QUEUE
from rebalance_engine.model import MAX_QUEUE_ID


class RoundState(Enum):
    """Where a round stands; the first two are open."""

    OPEN = "open"
    NOT_CONVERGED = "not converged"
    CLOSED = "closed"
    SUPERSEDED = "superseded"


INSTANTS = ("opened_low", "last_cause_at", "closed_at", "settled_at", "not_converged_at", "told_at")
MOMENTS = ("dropped_at", "dropped_low", "dropped_high", "taken_at", "taken_low", "taken_high", "first_pull_at")
DURATIONS = ("unowned_low", "unowned_high", "overlap_low", "overlap_high", "pause_low", "pause_high")
WITHIN_BOUNDS = Q(dropped_at__gte=F("dropped_low"), taken_at__gte=F("taken_low")) & Q(
    dropped_at__lte=F("dropped_high"), taken_at__lte=F("taken_high")
)
OPEN_STATES = (RoundState.OPEN.value, RoundState.NOT_CONVERGED.value)


class Round(models.Model):
    """What one change of a group set in motion, until held equals target.

    ``before`` and ``after`` are the group as it was shown before the round and at its latest rebalance, as snapshot
    messages: its moves lie between their targets. ``wave`` is the number of the first round of a chain in which each
    superseded the one before: a deploy.

    It began at ``opened_at`` at the latest, when its first cause was seen, and not before ``opened_low`` (NULL:
    unknown; equal: exact). What moved until ``settled_at`` was known when it closed, and is of no later round; a
    reporter's clock that is ahead puts that after ``closed_at``. ``waits_for`` says why it is unknown whether held is
    target, while that is so.
    ``move_count`` is of queues: to move while it is open, and told to have moved after; NULL is unknown.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="rounds")
    number = models.IntegerField()
    state = models.CharField(max_length=16, choices=choices_of(RoundState), default=RoundState.OPEN.value)
    cause = models.CharField(max_length=20, choices=choices_of(Cause))
    opened_at = AtField()
    opened_low = AtField(null=True, blank=True)
    last_cause_at = AtField()
    closed_at = AtField(null=True, blank=True)
    settled_at = AtField(null=True, blank=True, help_text="when what was held had last changed, as it closed")
    not_converged_at = AtField(null=True, blank=True)
    superseded_by = models.IntegerField(null=True, blank=True)
    wave = models.IntegerField()
    members_before = NamesField(null=True, blank=True, help_text="NULL: of before the first round nothing is known")
    members_after = NamesField(null=True, blank=True)
    move_count = models.IntegerField(null=True, blank=True)
    before = models.BinaryField(default=b"")
    after = models.BinaryField(default=b"")
    unsettled = NamesField(default=list, help_text="queues whose held is not target, at the last look")
    unknown_members = NamesField(default=list)
    waits_for = models.TextField(blank=True, default="", help_text="why it cannot be said whether held is target")
    last_look_at = AtField(null=True, blank=True)
    told_at = AtField(null=True, blank=True, help_text="when its handoffs were told; after its end")
    lasted_low = models.BigIntegerField(
        null=True, blank=True, help_text="ms it took at least, by its handoffs; NULL until they are told"
    )
    twice = models.BigIntegerField(
        null=True, blank=True, help_text="messages consumed twice in its handoffs, at least; NULL is unknown"
    )

    class Meta:
        """A number once; one round open at a time; an end where there is one, and only there."""

        constraints = [
            models.UniqueConstraint(fields=["group", "number"], name="round_number_is_unique"),
            models.UniqueConstraint(fields=["group"], condition=Q(closed_at__isnull=True), name="round_is_open_alone"),
            models.CheckConstraint(condition=Q(number__gte=1), name="round_number_is_from_1"),
            models.CheckConstraint(
                condition=Q(wave__gte=1, wave__lte=F("number")), name="round_wave_is_an_earlier_one"
            ),
            models.CheckConstraint(condition=Q(move_count__gte=0), name="round_moves_are_counted"),
            models.CheckConstraint(condition=Q(twice__gte=0), name="round_twice_is_counted"),
            models.CheckConstraint(
                condition=Q(state__in=OPEN_STATES, closed_at__isnull=True, superseded_by__isnull=True)
                | Q(state=RoundState.CLOSED.value, closed_at__isnull=False, superseded_by__isnull=True)
                | Q(
                    state=RoundState.SUPERSEDED.value,
                    closed_at__isnull=False,
                    superseded_by__isnull=False,
                    superseded_by__gt=F("number"),
                ),
                name="round_state_and_end_agree",
            ),
            models.CheckConstraint(
                condition=~Q(state=RoundState.NOT_CONVERGED.value) | Q(not_converged_at__isnull=False),
                name="round_not_converged_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(told_at__isnull=True) | Q(closed_at__isnull=False), name="round_is_told_when_it_ended"
            ),
            models.CheckConstraint(condition=Q(lasted_low__gte=0), name="round_lasted_low_is_not_negative"),
            instant("opened_at", "round_opened_at_is_an_instant"),
            instants(INSTANTS, "round_times_are_instants"),
            in_order("opened_at", "not_converged_at", "round_does_not_converge_after_it_opened"),
            in_order("closed_at", "settled_at", "round_settled_no_earlier_than_it_closed"),
            in_order("opened_low", "opened_at", "round_opened_low_is_not_above"),
            in_order("opened_at", "last_cause_at", "round_causes_follow_its_opening"),
            in_order("opened_at", "closed_at", "round_closes_after_it_opened"),
            one_of("cause", Cause, "round_cause_is_known"),
        ]
        indexes = [
            models.Index(fields=["group", "opened_at"], name="round_time"),
            models.Index(
                fields=["group"], name="round_untold", condition=Q(closed_at__isnull=False, told_at__isnull=True)
            ),
        ]

    @property
    def took_high(self) -> int | None:
        """How long it took at most, in ms; None where it is open, or nobody knows since when it may have been."""
        if self.closed_at is None or self.opened_low is None:
            return None
        return max(self.closed_at - self.opened_low, self.lasted_low or 0)  # members let go before they say they leave

    @property
    def took_low(self) -> int | None:
        """How long it took at least; None where that, and how long at most, is unknown.

        What it came from may be seen after all of its queues have moved; but from the first that is known to have been
        let go or taken to the last it took for certain.
        """
        if self.closed_at is None:
            return None
        return None if self.took_high is None and not self.lasted_low else self.lasted_low or 0

    @property
    def is_begin_late(self) -> bool:
        """Whether it took longer than from its begin to its end: queues moved before what they moved for was seen."""
        if self.closed_at is None or not self.lasted_low:
            return False
        return self.lasted_low > self.closed_at - (self.opened_at if self.opened_low is None else self.opened_low)

    @property
    def is_left_by_all(self) -> bool:
        """Whether it ended with nobody a member: what they had is nobody's, and changed hands to none.

        What a round left that another superseded is its own to the end, whoever takes it.
        """
        is_over = self.closed_at is not None and self.superseded_by is None
        return is_over and self.members_after == [] and self.members_before != []

    @property
    def is_left_untold(self) -> bool:
        """Whether all members left in it, and of some it was never known what they had: nor what nobody has since."""
        return self.is_left_by_all and self.move_count is None

    @property
    def changed_count(self) -> int | None:
        """How many queues changed owner in it; None: it is unknown, or it is open. What all have left nobody took."""
        if self.closed_at is None:
            return None
        return 0 if self.is_left_by_all else self.move_count

    @property
    def left_count(self) -> int | None:
        """How many queues are without owner since all members left in it; None: it is unknown, or it is open."""
        if self.closed_at is None:
            return None
        return self.move_count if self.is_left_by_all else 0

    def __str__(self) -> str:
        """Its number and cause."""
        return f"{self.number}: {self.get_cause_display()}"


class RoundCause(Sourced):
    """One change of a group, with what proves it. Without a round, it waits for the next rebalance."""

    group = models.ForeignKey(Group, models.CASCADE, related_name="causes")
    round = models.ForeignKey(Round, models.CASCADE, null=True, blank=True, related_name="causes")
    cause = models.CharField(max_length=20, choices=choices_of(Cause))
    client_id = NameField(null=True, blank=True)
    evidence = models.TextField()

    class Meta:
        """Never a cause without its evidence."""

        constraints = [
            one_of("cause", Cause, "round_cause_kind_is_known"),
            not_empty("evidence", "round_cause_has_evidence"),
            *sourced_constraints("round_cause"),
        ]
        indexes = [models.Index(fields=["group", "at"], name="cause_waiting", condition=Q(round__isnull=True))]

    def __str__(self) -> str:
        """What it was."""
        return in_words(self.evidence)


class Handoff(models.Model):
    """One moved queue's story: dropped at A, taken at B, first pull at B; each instant within its bounds.

    An empty client is nobody. ``unowned``, ``overlap`` and ``pause`` (from the drop to the first pull) are in ms, at
    least and at most. NULL is unknown; a queue that is still waited for has no ``taken_at`` and no upper bound.
    """

    round = models.ForeignKey(Round, models.CASCADE, related_name="handoffs")
    topic = NameField()
    broker = NameField()
    queue_id = models.BigIntegerField()
    from_client = NameField(blank=True, default="")
    to_client = NameField(blank=True, default="")
    nth = models.IntegerField(
        default=0, help_text="of the same queue from the same to the same in its round; 0 is the first"
    )
    dropped_at = AtField(null=True, blank=True)
    dropped_low = AtField(null=True, blank=True)
    dropped_high = AtField(null=True, blank=True)
    taken_at = AtField(null=True, blank=True)
    taken_low = AtField(null=True, blank=True)
    taken_high = AtField(null=True, blank=True)
    first_pull_at = AtField(null=True, blank=True)
    unowned_low = models.BigIntegerField(null=True, blank=True)
    unowned_high = models.BigIntegerField(null=True, blank=True)
    overlap_low = models.BigIntegerField(null=True, blank=True)
    overlap_high = models.BigIntegerField(null=True, blank=True)
    pause_low = models.BigIntegerField(null=True, blank=True)
    pause_high = models.BigIntegerField(null=True, blank=True)

    class Meta:
        """That a queue goes several times from one member to another in a round is counted; bounds stand in order."""

        constraints = [
            models.UniqueConstraint(
                fields=["round", "topic", "broker", "queue_id", "from_client", "to_client", "nth"],
                name="handoff_is_unique",
            ),
            models.CheckConstraint(condition=Q(nth__gte=0), name="handoff_nth_is_not_negative"),
            models.CheckConstraint(
                condition=~Q(from_client=F("to_client")),
                name="handoff_is_between_two",
            ),
            models.CheckConstraint(
                condition=Q(queue_id__range=(ANY_QUEUE, MAX_QUEUE_ID)), name="handoff_queue_id_fits"
            ),
            instants(MOMENTS, "handoff_times_are_instants"),
            not_negative(DURATIONS, "handoff_durations_are_not_negative"),
            models.CheckConstraint(condition=WITHIN_BOUNDS, name="handoff_times_are_within_their_bounds"),
            in_order("dropped_low", "dropped_high", "handoff_dropped_bounds_are_in_order"),
            in_order("taken_low", "taken_high", "handoff_taken_bounds_are_in_order"),
            in_order("unowned_low", "unowned_high", "handoff_unowned_bounds_are_in_order"),
            in_order("overlap_low", "overlap_high", "handoff_overlap_bounds_are_in_order"),
            in_order("pause_low", "pause_high", "handoff_pause_bounds_are_in_order"),
            in_order("taken_low", "first_pull_at", "handoff_pull_follows_taking"),
        ]

    def __str__(self) -> str:
        """Which queue, from whom to whom."""
        return f"{self.topic}/{self.broker}/{self.queue_id}: {self.from_client} -> {self.to_client}"
