"""The scheduler of ``beat``: the one of the database, which ends at once when it is told to.

Celery's own handler of SIGTERM writes the schedule in the midst of whatever is being written, and the end of the
process does so again. On SQLite each write waits up to 20 s for its turn, and a signal is heard only after the wait: in
a busy home ``beat`` was killed for it, and took 21 s where another process kept the lock; now 2 s. What is lost when a
write does not get its turn is when a task was started last; tasks may be done again.

While it runs, such a write is no fault: it is done with the next ones. Django-celery-beat would log an error for each,
and forget it.
"""

from __future__ import annotations

import logging
import signal
from types import FrameType

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, close_old_connections
from django_celery_beat.schedulers import DatabaseScheduler

from dashboard.common.waiting import wait_at_most

logger = logging.getLogger(__name__)

TURN_S = 1.0  # the longest wait for a write once it runs; what did not get its turn is written the next time


class Scheduler(DatabaseScheduler):  # type: ignore[misc] # django_celery_beat has no types
    """Reads its schedule with all patience, then waits for nobody. It is made in the main thread."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, leave)
        super().__init__(*args, **kwargs)

    def setup_schedule(self) -> None:
        """Write the schedule of the settings."""
        super().setup_schedule()
        wait_at_most(TURN_S)

    def sync(self) -> None:
        """Write when tasks were started last; what somebody else's write kept from its turn stays to be written."""
        kept: set[str] = set()
        try:
            close_old_connections()
            while self._dirty:
                kept.add(name := self._dirty.pop())
                if self._is_written(name):
                    kept.discard(name)
        except DatabaseError as error:
            is_no_fault = "locked" in str(error)  # as SQLite says it
            level = logging.INFO if is_no_fault else logging.ERROR
            logger.log(level, "when tasks were started last is not written yet: %s", error, exc_info=not is_no_fault)
        self._dirty |= kept

    def _is_written(self, name: str) -> bool:
        try:
            self._schedule[name].save()
        except (KeyError, TypeError, ObjectDoesNotExist):  # as in the class above
            return False
        return True


def leave(_number: int, _frame: FrameType | None) -> None:
    """End in order: Celery writes the schedule once on its way out."""
    raise SystemExit
