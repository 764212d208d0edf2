"""What is written about people: the first admin, grants, attempts."""

from __future__ import annotations

import hashlib
import logging
import secrets

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import IntegrityError, OperationalError, connection, transaction

from dashboard.audit.operations import append
from dashboard.common.waiting import no_waiting
from dashboard.people.models import Attempt, Grant
from dashboard.people.roles import Role

logger = logging.getLogger(__name__)

FIRST_ADMIN = "admin"
CHANGE_KEY = "change a password"  # what the audit log calls it
PASSWORD_BYTES = 15  # 20 characters, 120 bits
SOON_MS = 1_000  # that a dry run waits until it is counted
TRIALS_A_MINUTE = 120  # of one person, by the page and by the API together; who waits for each answer rarely gets there


def make_first_admin(*, now: int) -> str | None:
    """Make the first admin where there is nobody yet. Give the password, which is shown this once; None where there is.

    Of two processes that start at once, one makes it.
    """
    users = get_user_model()._default_manager
    if users.exists():
        return None
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    try:
        with transaction.atomic():
            users.create_superuser(username=FIRST_ADMIN, password=password)
            append(at=now, author="evenkeel", verb="make the first admin", subject=FIRST_ADMIN)
    except IntegrityError:
        return None
    return password


def reset_password(*, username: str, author: str, now: int) -> str:
    """Give a person a new random password, shown this once.

    Raises:
        DoesNotExist: nobody has this name.
    """
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    with transaction.atomic():
        user = get_user_model()._default_manager.get(username=username)
        user.set_password(password)
        user.save(update_fields=["password"])
        append(at=now, author=author, verb="reset a password", subject=username)
    return password


def grant(*, user: User, role: Role, clusters: str = "*", groups: str = "*", author: str, now: int) -> Grant:
    """Give a person a role in the clusters and groups whose names fit; the same one twice is one."""
    with transaction.atomic():
        given, is_new = Grant.objects.get_or_create(user=user, role=role.value, clusters=clusters, groups=groups)
        if is_new:
            detail = {"role": role.value, "clusters": clusters, "groups": groups}
            append(at=now, author=author, verb="grant a role", subject=user.get_username(), detail=detail)
    return given


def try_once(*, what: str, most: int, within_ms: int, now: int) -> bool:
    """Note an attempt at something, and say whether there were at most ``most`` within the time, this one included.

    Counted in the database, so that all web processes count together. A refused attempt is not noted: who waits
    comes through again.
    """
    key = _key(what)
    with transaction.atomic():
        _one_at_a_time(key)
        Attempt.objects.filter(at__lt=now - 24 * 3_600_000).delete()
        if Attempt.objects.filter(key=key, at__gt=now - within_ms).count() >= most:
            return False
        Attempt.objects.create(key=key, at=now)
    return True


def _one_at_a_time(key: str) -> None:
    """Let attempts at one thing wait for each other until the transaction ends: two must not both find room.

    SQLite's transactions, which begin by taking its one lock for writing, wait anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int(key[:15], 16)])


def wait_for_turn(*, what: str, most: int, within_ms: int, now: int) -> int:
    """Note an attempt as ``try_once`` does: 0, or in how many seconds there is room for one again."""
    if try_once(what=what, most=most, within_ms=within_ms, now=now):
        return 0
    newest = Attempt.objects.filter(key=_key(what), at__gt=now - within_ms).order_by("-at")
    times = list(newest.values_list("at", flat=True)[:most])
    return max(1, -((now - within_ms - times[-1]) // 1_000)) if times else 1


def wait_for_trial(*, person: int | None, now: int) -> int:
    """Note that somebody has a dry run computed: 0, or in how many seconds there is room for one again.

    It only reads: where nothing can be written for now, it is done without being counted.
    """
    try:
        with no_waiting(sqlite_ms=SOON_MS):
            return wait_for_turn(what=f"trials of {person}", most=TRIALS_A_MINUTE, within_ms=60_000, now=now)
    except OperationalError as error:
        logger.info("a dry run of person %s is not counted: %s", person, error)
        return 0


def forget_attempts(*, what: str, only_last: bool = False) -> None:
    """Take attempts back: it went well. All of them, or the last one, where others are counted under the same key."""
    key = _key(what)
    rows = Attempt.objects.filter(key=key).order_by("-at")
    Attempt.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[: 1 if only_last else None])).delete()


def _key(what: str) -> str:
    return hashlib.sha256(what.encode("utf-8", "surrogatepass")).hexdigest()
