"""Storage only: everything is fetched at every step, and Nacre only judges the replies."""

from collections.abc import Sequence

from nacre.core.pagerow import PageKind
from nacre_simweb.ours import Nacre
from nacre_simweb.policy import WantedVisit


class Everything(Nacre):
    """Visits every page that it knows at each step, once; new ones as they are met."""

    conditional = False

    def choose(self, now: float, room: int) -> Sequence[WantedVisit]:
        """See `Policy`."""
        new_visits = super().choose(now, room)
        if new_visits or self._stepped == now:
            return new_visits
        self._stepped = now
        return [
            WantedVisit(row.url)
            for row in self.known.scan()
            if row.visits and row.last_visit < now and row.kind is not PageKind.EMBED
        ][:room]

    _stepped = -1.0
