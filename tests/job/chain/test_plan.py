"""Plans: what is left of a chain once constant gates and disabled entries are gone."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.config.effective import Effective, fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Candidate, Result, Visit
from nacre.job.chain.entry import ChainName, Kit
from nacre.job.chain.plan import ChainBuilder, link_subject, opens
from nacre.job.configuration.settings import JobSettings
from nacre.report.steps import Steps
from nacre.scope.state import ScopeState
from nacre.store.store import Store
from tests.store.memory import MemoryEngine


class Work:
    """Does nothing, everywhere."""

    def accepts(self, visit: Visit) -> bool:
        return True

    async def process(self, visit: Visit) -> Result:
        return Result.PROCEED


def kit() -> Any:
    nothing: Any = None
    return Kit(
        ChainName.FETCH, "", nothing, Path(), "runs/x", nothing, nothing, lambda visit: "192.0.2.7",
        fixed(None), ScopeState(), nothing, nothing, nothing,
    )  # fmt: skip


def builder(chain: ChainName, *said: dict[str, Any]) -> ChainBuilder:
    settings = [JobSettings.model_validate({"chains": {chain: each}}) for each in said]
    entries = Effective(settings).then(lambda s: s.chains.of(chain))
    built = dict.fromkeys([entry.kind for entry in entries[0]], Work)
    return ChainBuilder(chain, entries, Steps(Store(MemoryEngine())), kit(), built)


def names(plan: Any) -> list[str]:
    return [bound.step.name for bound in plan]


def test_disabled_entries_are_not_there():
    plans = builder(ChainName.FETCH, {}, {"quotas": {"enabled": False}}).fetch()
    assert "recheck-scope" not in names(plans[0])
    assert set(names(plans[0])) - set(names(plans[1])) == {"quotas"}
    # One processor for all combinations, so that it counts once.
    assert plans[0][0] is plans[1][0]


@pytest.mark.parametrize(
    ("gate", "there", "bare"),
    [
        ([], True, True),
        ("accept", True, True),
        (["reject", "accept"], True, True),
        ("reject", False, False),
        ([{"rule": "reject", "enabled": False}], True, True),
        ({"rule": "matches-regex", "regex": ".*x", "decision": "reject"}, True, False),
    ],
)
def test_constant_gates_vanish(gate: Any, there: bool, bare: bool):
    plan = builder(ChainName.FETCH, {"preselect": {"gate": gate}}).fetch()[0]
    assert ("preselect" in names(plan)) is there
    assert isinstance(plan[0].processor, Work) is (bare or not there)


def test_a_gate_is_asked_with_the_address():
    gate = {"rule": "ip-address-set", "addresses": ["192.0.2.7"], "decision": "REJECT"}
    processor = builder(ChainName.FETCH, {"quotas": {"gate": gate}}).fetch()[0][2].processor
    visit = Visit(CrawlURI("http://a.test/", b"", "q"))
    assert not processor.accepts(visit)
    assert asyncio.run(processor.process(visit)) is Result.PROCEED


def test_the_stock_candidate_chain_costs_nothing():
    assert builder(ChainName.CANDIDATE, {}).candidate()[0] is None
    plan = builder(ChainName.CANDIDATE, {"scope": {"enabled": False}}).candidate()[0]
    assert plan is not None
    assert plan.asks is False


def test_what_the_disposition_leaves_out():
    small = {"rule": "matches-regex", "regex": ".*gif", "decision": "REJECT"}
    plan = builder(ChainName.DISPOSITION, {"archive": {"gate": small}, "remove": ["candidates"]})
    found = plan.disposition()[0]
    assert found.follows is False
    shown = [
        opens(found.archives, Visit(CrawlURI(f"http://a.test/x.{end}", b"", "q")))
        for end in ("gif", "png")
    ]
    assert shown == [False, True]
    assert [*found.before, *found.between, *found.late, *found.after] == []


def test_candidates_are_subjects():
    link = Outlink("http://a.test/x", Hop.LINK, "a/@href")
    subject = link_subject(Candidate(link, CrawlURI("http://a.test/", b"", "q", source="s"), "L"))
    assert (subject.url, subject.via, subject.path, subject.source) == (
        link.url,
        "http://a.test/",
        "L",
        "s",
    )
