"""Members of a group, where brokers see them, and what they subscribe to."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from dashboard.common.fields import (
    AtField,
    Sourced,
    choices_of,
    in_order,
    not_empty,
    one_of,
    sourced_constraints,
)
from dashboard.common.names import NameField, NamesField
from dashboard.groups.kinds import is_proxied
from dashboard.groups.models.group import Group
from rebalance_engine.events import ConsumeType, Departure, Missing

UNASKED = frozenset({None, Missing.NOT_ASKED.value})  # why no answer is known, of one that was not asked


class Member(Sourced):
    """A client that is, or was, a member; ``at`` is when it joined, ``left_at`` when it left.

    ``good_bye_at``: when it unregistered, by its own report. It is a member until brokers list it no more.
    ``registrations``: over how many connections one broker has this client id; RocketMQ counts each as a member.
    ``held_seen_at``: the last look at which it told all that it holds; NULL is never. ``missing`` says why a later
    look got no answer: what it holds is unknown since ``missing_at``. ``silences`` are such times that ended, the last
    one at ``silent_until``: of what others are told to have lacked meanwhile, nothing is certain. ``doubled_at``: since
    when it may have several connections, of which only one is asked; ``doubled`` are such times that ended, of which
    the same is true.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="members")
    client_id = NameField()
    registrations = models.IntegerField(default=1)
    doubled_at = AtField(null=True, blank=True)
    doubled = models.JSONField(
        null=True,
        blank=True,
        help_text="[[several connections since, until], …]; of many the oldest are one; NULL: none",
    )
    left_at = AtField(null=True, blank=True)
    departure = models.CharField(max_length=20, null=True, blank=True, choices=choices_of(Departure))
    good_bye_at = AtField(null=True, blank=True)

    language = models.TextField(blank=True, default="", help_text="empty is unknown")
    version = models.TextField(blank=True, default="", help_text="empty is unknown")
    consume_type = models.CharField(max_length=20, null=True, blank=True, choices=choices_of(ConsumeType))
    is_orderly = models.BooleanField(null=True, blank=True)
    started_at = AtField(null=True, blank=True)
    strategy = models.TextField(blank=True, default="", help_text="empty is unknown")
    seen_at = AtField(default=0, help_text="the look that its own words above are from")

    held_seen_at = AtField(null=True, blank=True)
    missing = models.CharField(max_length=16, null=True, blank=True, choices=choices_of(Missing))
    missing_at = AtField(null=True, blank=True)
    silences = models.JSONField(
        null=True, blank=True, help_text="[[told last, told again or left], …]; of many the oldest are one; NULL: none"
    )
    silent_until = AtField(null=True, blank=True)

    class Meta:
        """A group has a client id once; who left has a departure."""

        constraints = [
            models.UniqueConstraint(fields=["group", "client_id"], name="member_is_unique"),
            not_empty("client_id", "member_has_an_id"),
            models.CheckConstraint(condition=Q(registrations__gte=1), name="member_is_registered_once_at_least"),
            models.CheckConstraint(
                condition=Q(left_at__isnull=True, departure__isnull=True)
                | Q(left_at__isnull=False, departure__isnull=False),
                name="member_who_left_has_a_departure",
            ),
            models.CheckConstraint(
                condition=Q(missing__isnull=True, missing_at__isnull=True)
                | Q(missing__isnull=False, missing_at__isnull=False),
                name="member_missing_has_a_time",
            ),
            in_order("at", "left_at", "member_leaves_after_joining"),
            one_of("departure", Departure, "member_departure_is_known"),
            one_of("consume_type", ConsumeType, "member_consume_type_is_known"),
            one_of("missing", Missing, "member_missing_is_known"),
            *sourced_constraints("member"),
        ]
        indexes = [models.Index(fields=["group"], name="member_here", condition=Q(left_at__isnull=True))]

    def __str__(self) -> str:
        """Its client id."""
        return self.client_id

    @property
    def is_silent(self) -> bool:
        """Whether it is unknown what it holds."""
        return self.held_seen_at is None or self.missing_at is not None

    @property
    def is_partial(self) -> bool:
        """Whether it told, but perhaps not all: a broker asks one of the connections under a client id, not each."""
        return self.registrations > 1 and not self.is_silent

    @property
    def is_unasked(self) -> bool:
        """Whether that is so because nobody asked it yet, or could: it did not fail to answer."""
        return self.is_silent and self.missing in UNASKED and not self.is_proxied

    @property
    def is_proxied(self) -> bool:
        """Whether that is so because it seems to come through a proxy, where it owns no queues and cannot be asked."""
        return is_proxied(self.client_id, strategy=self.strategy, is_silent=self.is_silent)


class MemberList(Sourced):
    """The members as one broker lists them, in its order, an id as often as it is registered.

    ``missing`` says why it did not tell when it was asked last, at ``missing_at``: who is a member there is unknown
    since ``missing_low``, when it had told last. ``silences`` are such times that ended, the last one at
    ``silent_until``.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="member_lists")
    broker = NameField()
    clients = NamesField()
    missing = models.CharField(max_length=16, null=True, blank=True, choices=choices_of(Missing))
    missing_at = AtField(null=True, blank=True)
    missing_low = AtField(null=True, blank=True)
    silences = models.JSONField(
        null=True, blank=True, help_text="[[missing since, told again], …]; of many the oldest are one; NULL: none"
    )
    silent_until = AtField(null=True, blank=True)

    class Meta:
        """A broker has one list; one that is missing is so for a reason, since some time."""

        constraints = [
            models.UniqueConstraint(fields=["group", "broker"], name="member_list_is_unique"),
            models.CheckConstraint(
                condition=Q(missing__isnull=True, missing_at__isnull=True)
                | Q(missing__isnull=False, missing_at__isnull=False),
                name="member_list_missing_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(missing_low__isnull=True) | Q(missing_at__isnull=False, missing_low__lte=F("missing_at")),
                name="member_list_told_before_it_was_missing",
            ),
            one_of("missing", Missing, "member_list_missing_is_known"),
            not_empty("broker", "member_list_has_a_broker"),
            *sourced_constraints("member_list"),
        ]

    def __str__(self) -> str:
        """The broker."""
        return self.broker


class Presence(Sourced):
    """A connection of a member on one broker. Two addresses on one broker are a client id that is there twice."""

    member = models.ForeignKey(Member, models.CASCADE, related_name="presences")
    broker = NameField()
    address = models.TextField()
    language = models.TextField(blank=True, default="")
    version = models.TextField(blank=True, default="")
    gone_at = AtField(null=True, blank=True)
    departure = models.CharField(max_length=20, null=True, blank=True, choices=choices_of(Departure))

    class Meta:
        """A connection is there once; one that is gone has a departure."""

        constraints = [
            models.UniqueConstraint(fields=["member", "broker", "address"], name="presence_is_unique"),
            not_empty("broker", "presence_has_a_broker"),
            not_empty("address", "presence_has_an_address"),
            models.CheckConstraint(
                condition=Q(gone_at__isnull=True, departure__isnull=True)
                | Q(gone_at__isnull=False, departure__isnull=False),
                name="presence_that_ended_has_a_departure",
            ),
            one_of("departure", Departure, "presence_departure_is_known"),
            in_order("at", "gone_at", "presence_ends_after_it_began"),
            *sourced_constraints("presence"),
        ]

    def __str__(self) -> str:
        """Where it is."""
        return f"{self.broker} {self.address}"


class Subscription(Sourced):
    """One topic that a member subscribes to; without a member, one of the group's table on a broker.

    Rows that end are deleted: what was is in the event log.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="subscriptions")
    member = models.ForeignKey(Member, models.CASCADE, null=True, blank=True, related_name="subscriptions")
    topic = NameField()
    expression = models.TextField(blank=True, default="")
    expression_type = models.TextField()
    sub_version = models.BigIntegerField()

    class Meta:
        """A topic once for each member, and once for the group."""

        constraints = [
            models.UniqueConstraint(fields=["member", "topic"], name="subscription_is_unique"),
            models.UniqueConstraint(
                fields=["group", "topic"], condition=Q(member__isnull=True), name="group_subscription_is_unique"
            ),
            not_empty("topic", "subscription_has_a_topic"),
            *sourced_constraints("subscription"),
        ]
        indexes = [models.Index(fields=["topic"], name="subscription_topic")]

    def __str__(self) -> str:
        """Topic and expression."""
        return f"{self.topic} {self.expression}"
