"""The scope once more before the fetch, when the address is known. As Heritrix's Preselector."""

from collections.abc import Callable

from nacre.config.effective import Effective
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.scope.rule import Scope
from nacre.scope.subject import subject_of


class Recheck:
    """Lets go what the scope no longer accepts, or does not accept at this address.

    Args:
        scope: The scope under each combination of sheets, built for `Place.RECHECK`.
        address: Address of a visit's server; "" while it is not known.
    """

    def __init__(self, scope: Effective[Scope], address: Callable[[Visit], str]) -> None:
        self._scope = scope
        self._address = address

    def accepts(self, visit: Visit) -> bool:
        """All but what another URI needs."""
        return not visit.uri.is_prerequisite

    async def process(self, visit: Visit) -> Result:
        """Disregard it (-5000) when it is out of scope, and say by which rule."""
        verdict = self._scope[visit.overlay].decide(subject_of(visit, self._address(visit)))
        if verdict.accepted:
            return Result.PROCEED
        visit.status = FetchStatus.OUT_OF_SCOPE
        visit.error = f"out of scope when it was asked again, by the rule {verdict.rule}"
        return Result.FINISH
