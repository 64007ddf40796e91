"""Plans: what is left of a chain once constant gates and disabled entries are gone."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.config.effective import Effective, fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Candidate, Result, Visit
from nacre.engine.chain.entry import ChainName, Kit
from nacre.engine.chain.plan import ChainBuilder, link_subject, opens
from nacre.report.statistics import ChainStatistics
from nacre.scope.state import ScopeState
from nacre.settings.settings import JobSettings
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


def builder(chain: ChainName, *said: dict[str, Any], **made: Any) -> ChainBuilder:
    """A builder that makes what does nothing; `made`: others, by kind with _ for -."""
    settings = [JobSettings.model_validate({"chains": {chain: each}}) for each in said]
    entries = Effective(settings).then(lambda s: s.chains.of(chain))
    built: dict[str, Any] = dict.fromkeys([entry.kind for entry in entries[0]], Work)
    built |= {kind.replace("_", "-"): lambda one=one: one for kind, one in made.items()}
    return ChainBuilder(chain, entries, ChainStatistics(Store(MemoryEngine())), kit(), built)


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


# ---- what a plan does with processors


class Step:
    """A processor of any chain that notes what it works on; it accepts what ends in `x`."""

    def __init__(self) -> None:
        self.met: list[str] = []
        self.finished = self.ticks = 0

    def accepts(self, one: Any) -> bool:
        return url_of(one).endswith("x")

    def process(self, one: Any) -> Result:
        self.met.append(url_of(one))
        return Result.FINISH

    def finish(self) -> None:
        self.finished += 1

    def time_passed(self) -> None:
        self.ticks += 1


def url_of(one: Visit | Candidate) -> str:
    return one.uri.url if isinstance(one, Visit) else one.link.url


NOT_B = {"rule": "matches-regex", "regex": "http://b.*", "decision": "REJECT"}


def visit_of(url: str) -> Visit:
    return Visit(CrawlURI(url, b"", "q"))


def candidate_of(url: str) -> Candidate:
    return Candidate(Outlink(url, Hop.LINK, "a/@href"), CrawlURI("http://a.test/", b"", "q"), "L")


@pytest.mark.parametrize("chain", [ChainName.CANDIDATE, ChainName.DISPOSITION])
def test_a_gate_and_the_processor_itself_both_have_to_let_it_in(chain: ChainName):
    kind = "reschedule" if chain is ChainName.DISPOSITION else "hash-crawl-mapper"
    entry = {"processor": kind, "gate": NOT_B}
    entry |= {"local_name": "0"} if chain is ChainName.CANDIDATE else {}
    step = Step()
    made = builder(chain, {"insert": [entry]}, **{kind: step})
    plan: Any = made.candidate()[0] if chain is ChainName.CANDIDATE else made.disposition()[0]
    (bound,) = plan.after
    make: Any = candidate_of if chain is ChainName.CANDIDATE else visit_of
    urls = ("http://a.test/x", "http://a.test/y", "http://b.test/x")
    assert [bound.processor.accepts(make(url)) for url in urls] == [True, False, False]
    assert bound.processor.process(make(urls[0])) is Result.FINISH
    assert step.met == [urls[0]]


def test_added_processors_stand_where_the_configuration_puts_them():
    named = [
        {"processor": "reschedule", "name": name, place: anchor}
        for name, place, anchor in (
            ("first", "before", "archive"), ("second", "after", "archive"),
            ("third", "after", "candidates"), ("fourth", "after", "disposition"),
        )
    ]  # fmt: skip
    plan = builder(ChainName.DISPOSITION, {"insert": named}).disposition()[0]
    groups = (plan.before, plan.between, plan.late, plan.after)
    assert [names(group) for group in groups] == [["first"], ["second"], ["third"], ["fourth"]]
    assert (plan.archives, plan.follows) == (True, True)


def test_who_has_something_to_close_does_so_once():
    step = Step()
    made = builder(ChainName.FETCH, {}, {}, quotas=step, preselect=Work())
    made.finish()
    assert step.finished == 0, "it was not made"
    made.fetch()
    made.time_passed()
    made.finish()
    assert (step.finished, step.ticks) == (1, 1)


def test_the_counts_of_a_step_are_found_by_its_kind():
    made = builder(ChainName.DISPOSITION, {"archive": {"comment": "x"}, "remove": ["candidates"]})
    archive, gone = made.step("archive"), made.step("candidates")
    archive.handled += 1
    assert made.step("archive").handled == 1
    assert (gone.chain, gone.name, gone.kind) == ("Disposition", "candidates", "")
    gone.handled += 1
    assert made.step("candidates").handled == 0, "nobody counts what is not in the chain"


@pytest.mark.parametrize("gate", [True, False])
def test_a_constant_gate_is_the_same_for_all(gate: bool):
    assert opens(gate, visit_of("http://a.test/")) is gate
