"""The entries of the stock chains. Their settings stand in sections of their own, if not here.

What does their work is made where the job's parts meet (`job.assemble`), not by `make`.
"""

from typing import Literal

from nacre.config.component import setting
from nacre.job.chain.entry import ChainName, Entry, GateRules
from nacre.job.chain.table import PROCESSORS
from nacre.scope.expressions import Expression

REPLY = "a reply"
LINKS = "outlinks"
NAMES = "addresses of hosts"
CHECKS = "checked preconditions"
SCOPED = "a verdict of the scope"
ORDERED = "a place in the frontier"


class Anchor(Entry):
    """An entry that its chain cannot be without."""

    enabled: bool = setting(True, "Always true.", live=False, sheets=False)
    gate: GateRules = setting((), "Always empty.", live=False, sheets=False)


class JudgeScope(Entry):
    """Asks the scope; a link that it does not accept goes no further. Settings: `scope`."""

    chains = frozenset((ChainName.CANDIDATE,))
    heritrix = "CandidateScoper"
    gives = frozenset((SCOPED,))
    processor: Literal["scope"] = "scope"


class Prepare(Anchor):
    """Gives a URI its queue, directive, precedence and cost. Settings: `frontier`."""

    chains = frozenset((ChainName.CANDIDATE,))
    heritrix = "FrontierPreparer"
    gives = frozenset((ORDERED,))
    fixed = "the frontier takes only what it has prepared"
    processor: Literal["prepare"] = "prepare"


class Preselect(Entry):
    """Lets URIs go that need not be fetched: blocked ones, and hopeless guesses."""

    heritrix = "Preselector"
    processor: Literal["preselect"] = "preselect"
    block_all: bool = setting(False, "Block every URI (-5001).")
    allow_by_regex: Expression = setting(
        "", "Block URIs that this does not match as a whole (-5001); empty blocks none."
    )
    block_by_regex: Expression = setting(
        "", "Block URIs that this matches as a whole (-5001); empty blocks none."
    )


class LimitRuntime(Entry):
    """Looks at the limit of running time. Settings: `limits.runtime`."""

    heritrix = "RuntimeLimitEnforcer"
    processor: Literal["runtime-limit"] = "runtime-limit"


class EnforceQuotas(Entry):
    """Fetches nothing that is over its quota. Settings: `quotas`."""

    heritrix = "QuotaEnforcer"
    processor: Literal["quotas"] = "quotas"


class CheckPreconditions(Entry):
    """Has `dns:` and robots.txt fetched first, and obeys robots.txt. Settings: `robots`, `dns`."""

    heritrix = "PreconditionEnforcer"
    gives = frozenset((CHECKS,))
    uses = frozenset((NAMES, REPLY))
    processor: Literal["preconditions"] = "preconditions"


class RecheckScope(Entry):
    """Asks the scope again, when the address of the server is known (-5000).

    Rules that need an address can stand in the scope then.
    """

    needs = frozenset((CHECKS,))
    behind = "preconditions"
    processor: Literal["recheck-scope"] = "recheck-scope"
    enabled: bool = setting(False, "Ask the scope again before each fetch.")


class FetchDns(Entry):
    """Looks up the name of a `dns:` URI. Settings: `dns`."""

    heritrix = "FetchDNS"
    gives = frozenset((NAMES,))
    processor: Literal["fetch-dns"] = "fetch-dns"


class FetchHttp(Entry):
    """Fetches http and https URIs. Settings: `fetch`, `network`, `cookies`."""

    heritrix = "FetchHTTP"
    gives = frozenset((REPLY,))
    needs = frozenset((CHECKS,))
    processor: Literal["fetch-http"] = "fetch-http"


class Extract(Entry):
    """Finds the outlinks of what was fetched. Settings: `extract`."""

    heritrix = "ExtractorHTML"
    gives = frozenset((LINKS,))
    needs = frozenset((REPLY,))
    processor: Literal["extract"] = "extract"


class Archive(Entry):
    """Writes WARC records and the index, and remembers the capture. Settings: `archive`, `dedup`.

    What its gate leaves out is fetched and followed, but not stored.
    """

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "WARCWriterChainProcessor"
    processor: Literal["archive"] = "archive"


class FollowLinks(Entry):
    """Sends the outlinks through the candidate chain. Settings: `engine.follow_error_pages`."""

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "CandidatesProcessor"
    processor: Literal["candidates"] = "candidates"


class Dispose(Anchor):
    """Sets the delay of the queue, and tells statistics and logs. Settings: `politeness`."""

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "DispositionProcessor"
    fixed = "every URI handed out must come back to the frontier"
    processor: Literal["disposition"] = "disposition"


PROCESSORS.add(JudgeScope, Prepare)
PROCESSORS.add(Preselect, LimitRuntime, EnforceQuotas, CheckPreconditions, RecheckScope)
PROCESSORS.add(FetchDns, FetchHttp, Extract)
PROCESSORS.add(Archive, FollowLinks, Dispose)


def _entries(*kinds: type[Entry]) -> tuple[Entry, ...]:
    """Entries as they stand by default; without validators, like `config.component.section`."""
    return tuple(kind.model_construct() for kind in kinds)


STOCK: dict[ChainName, tuple[Entry, ...]] = {
    ChainName.CANDIDATE: _entries(JudgeScope, Prepare),
    ChainName.FETCH: _entries(
        Preselect,
        LimitRuntime,
        EnforceQuotas,
        CheckPreconditions,
        RecheckScope,
        FetchDns,
        FetchHttp,
        Extract,
    ),
    ChainName.DISPOSITION: _entries(Archive, FollowLinks, Dispose),
}
"""The entries of each chain where a configuration changes nothing, in order."""
