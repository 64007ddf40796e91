"""What the queues do when settings change under them."""

from nacre.frontier.groups import Groups
from nacre.frontier.queues import Queue
from nacre.frontier.rotation import Rotation
from nacre.frontier.settings import PolitenessSettings
from nacre.frontier.steering import Steering


class Renewal:
    """Lets queues obey new settings at once.

    Args:
        rotation: The queues.
        groups: Those that share an address.
        steering: Brings retired queues back.
    """

    def __init__(self, rotation: Rotation, groups: Groups, steering: Steering) -> None:
        self._rotation = rotation
        self._steering = steering
        self._groups = groups

    def renew(self, mono: float) -> None:
        """Sheets, budgets, precedences or delays are others from now on.

        Queues that were retired, but not by the operator, come back, and retire again if they
        must; a delay that runs is as long as it would be now.
        """
        rotation = self._rotation
        rotation.mono = mono
        self._steering.unretire(all_of_them=False)
        for queue in rotation.roster.in_memory():
            self._renew(queue)
        for queue in rotation.sleeping():
            self._renew(queue)

    def _renew(self, queue: Queue) -> None:
        rotation = self._rotation
        rotation.terms.recall(queue)
        rotation.rank(queue)
        row, old = queue.row, queue.wake
        delay = _delay_now(rotation.terms.politeness[queue.overlay], queue)
        # A longer wait than the last delay is one for a retry.
        if delay == row.delay or old - rotation.mono > row.delay:
            return
        new = old - row.delay + delay
        row.delay = delay
        if new < old:
            rotation.rouse(queue, new)
        else:
            rotation.snooze(queue, new)
        self._groups.repace(row.group, old, new, rotation.mono)


def _delay_now(settings: PolitenessSettings, queue: Queue) -> float:
    """What the last delay of a queue would be under these settings, as far as it can be known.

    One that its site asked for, or that its mood called for, is never shortened.
    """
    last = queue.row.delay
    if not last:
        return last
    delay = settings.delay
    if delay is None:
        delay = min(max(last, settings.min_delay), settings.max_delay)
    asked = queue.row.alone or queue.row.backoff > 1.0
    return max(delay, last) if asked else delay
