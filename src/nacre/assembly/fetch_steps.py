"""Makes the stock steps of the fetch chain from the records of a run."""

from collections.abc import Callable, Mapping

from nacre.assembly.fetching import extract_settings
from nacre.assembly.records import RunRecords
from nacre.assembly.storing import rights_plan
from nacre.core.processor import Processor, Visit
from nacre.engine.steps.extract import ExtractStep
from nacre.engine.steps.fetching import FetchDnsStep, FetchHttpStep
from nacre.engine.steps.preconditions import CheckPreconditionsStep, Preconditions
from nacre.engine.steps.preselect import PreselectStep, RecheckScopeStep, preselection
from nacre.engine.steps.quotas import EnforceQuotasStep, LimitRuntimeStep
from nacre.fetch.identity import make_signer
from nacre.machine.clock import machine_clock


def fetch_steps(records: RunRecords, *, conditional: bool) -> Mapping[str, Callable[[], Processor]]:
    """Return the makers of the steps, by the names of their entries.

    Args:
        records: The parts of the run.
        conditional: Send conditional requests for stored captures.
    """
    context, queues = records.context, records.queues
    effective = records.rules.effective
    limit = effective.then(lambda s: s.limits.runtime)
    blocks = effective.then(lambda s: preselection(s.chains.fetch))
    # URIs that wait for an answer are known to all steps that are made, also after a change.
    checks, speculation = _make_preconditions(records), records.scheduling.speculation
    return {
        "preselect": lambda: PreselectStep(blocks, speculation),
        "runtime-limit": lambda: LimitRuntimeStep(limit, context.supervisor),
        "quotas": lambda: EnforceQuotasStep(queues.quotas),
        "preconditions": lambda: CheckPreconditionsStep(checks, context.clock),
        "recheck-scope": lambda: _make_recheck_step(records),
        "fetch-dns": lambda: FetchDnsStep(records.fetching.resolver, context.clock),
        "fetch-http": lambda: _make_http_step(records, conditional=conditional),
        "extract": lambda: _make_extract_step(records),
    }


def _make_preconditions(records: RunRecords) -> Preconditions:
    effective = records.rules.effective
    # Names are resolved here, unless a proxy may do it.
    resolves = effective.then(lambda s: not (s.fetch.proxy and s.network.proxy_resolves))
    robots = effective.then(lambda s: s.robots)
    return Preconditions(records.queues.hosts, records.fetching.robots, robots, resolves=resolves)


def _make_recheck_step(records: RunRecords) -> RecheckScopeStep:
    hosts = records.queues.hosts

    def address(visit: Visit) -> str:
        return hosts.address(visit.uri.url)

    return RecheckScopeStep(records.rules.scope_at_recheck(), address)


def _make_http_step(records: RunRecords, *, conditional: bool) -> FetchHttpStep:
    rules, parts, clock = records.rules, records.fetching, records.context.clock
    effective, machine = rules.effective, machine_clock(clock)
    return FetchHttpStep(
        parts.fetcher,
        effective.then(lambda s: s.fetch),
        midfetch=rules.midfetch(),
        keeps_cookies=effective.then(lambda s: s.cookies.enabled),
        signers=effective.then(lambda s: make_signer(s.identity, machine.now)),
        answers=records.queues.hosts,
        history=records.storing.archive.history,
        conditional=conditional,
        cookies=parts.jar,
        cookie_rows=parts.cookie_rows,
        pacer=parts.pacer,
        clock=clock,
    )


def _make_extract_step(records: RunRecords) -> ExtractStep:
    effective = records.rules.effective
    return ExtractStep(
        effective.then(extract_settings), records.fetching.parser, effective.then(rights_plan)
    )
