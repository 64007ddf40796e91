"""The scope once more before the fetch, when the address is known. Source: heritrix.md 1.7."""

from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus
from nacre.job.names import HostAnswers
from nacre.scope.rule import Scope
from nacre.scope.subject import subject_of
from nacre.uri.parse import host, is_ip


class Recheck:
    """Lets go what the scope no longer accepts, or does not accept at this address.

    Args:
        scope: The scope under each combination of sheets, built for `Place.RECHECK`.
        answers: Addresses of hosts.
        clock: The time, for answers that expire.
    """

    name = "recheck-scope"

    def __init__(self, scope: Effective[Scope], answers: HostAnswers, clock: Clock) -> None:
        self._scope = scope
        self._answers = answers
        self._clock = clock

    def accepts(self, visit: Visit) -> bool:
        """All but what another URI needs."""
        return not visit.uri.is_prerequisite

    async def process(self, visit: Visit) -> Result:
        """Disregard it (-5000) when it is out of scope, and say by which rule."""
        verdict = self._scope[visit.overlay].decide(subject_of(visit, self._address(visit.uri.url)))
        if verdict.accepted:
            return Result.PROCEED
        visit.status = FetchStatus.OUT_OF_SCOPE
        visit.error = f"out of scope when it was asked again, by the rule {verdict.rule}"
        return Result.FINISH

    def _address(self, url: str) -> str:
        name = host(url)
        if is_ip(name):
            return name.strip("[]")
        answer = self._answers.get(name, self._clock.now())
        return answer.addresses[0] if answer is not None and answer.addresses else ""
