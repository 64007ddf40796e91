"""The first step of the fetch chain: what need not be fetched after all."""

from nacre.core.crawluri import Hop
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.job.speculation import Speculation


class Preselect:
    """Lets a speculative URI go when such guesses have proved hopeless since it was queued.

    One script can queue thousands of them before the first is tried.
    """

    name = "preselect"

    def __init__(self, speculation: Speculation) -> None:
        self._speculation = speculation

    def accepts(self, visit: Visit) -> bool:
        """Only speculative URIs."""
        return visit.uri.path[-1:] == Hop.SPECULATIVE.value

    async def process(self, visit: Visit) -> Result:
        """Disregard it (-5000), with the reason."""
        uri = visit.uri
        if self._speculation.still_worth(uri.url, uri.context):
            return Result.PROCEED
        visit.status = FetchStatus.OUT_OF_SCOPE
        visit.annotate("speculativeHopeless")
        visit.error = "guesses of its kind on this site led nowhere"
        return Result.FINISH
