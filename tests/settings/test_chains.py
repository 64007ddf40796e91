"""What `chains` in crawl.yaml may say, and what is said of mistakes."""

from typing import Any

import pytest
from pydantic import ValidationError

from nacre.config.place import find, with_values
from nacre.engine.chain.entry import ChainName
from nacre.engine.chain.plan import gate_place
from nacre.job.settings_change import SettingsEditor
from nacre.scope.subject import RulePlace
from nacre.settings.amend import amended
from nacre.settings.chains import STOCK
from nacre.settings.settings import JobSettings

FETCH = [entry.label for entry in STOCK[ChainName.FETCH]]


def chains(**said: Any) -> JobSettings:
    return JobSettings.model_validate({"chains": said})


def labels(settings: JobSettings, chain: ChainName = ChainName.FETCH) -> list[str]:
    return [entry.label for entry in settings.chains.of(chain)]


def test_stock_chains():
    assert labels(JobSettings()) == FETCH
    assert labels(JobSettings(), ChainName.CANDIDATE) == ["scope", "prepare"]
    assert labels(JobSettings(), ChainName.DISPOSITION) == ["archive", "candidates", "disposition"]
    off = [one.label for one in JobSettings().chains.fetch if not one.enabled]
    assert off == ["recheck-scope"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            {"remove": ["quotas", "runtime-limit"]},
            [n for n in FETCH if n not in ("quotas", "runtime-limit")],
        ),
        ({"remove": "quotas"}, [n for n in FETCH if n != "quotas"]),
        (
            {"reorder": ["quotas", "preselect"]},
            ["quotas", "runtime-limit", "preselect", *FETCH[3:]],
        ),
        ({"reorder": ["runtime-limit", "preselect"]}, ["runtime-limit", "preselect", *FETCH[2:]]),
        (
            {"remove": ["quotas"], "insert": [{"processor": "quotas", "before": "preselect"}]},
            ["quotas", *[n for n in FETCH if n != "quotas"]],
        ),
        ({"remove": ["recheck-scope"], "insert": ["recheck-scope"]}, FETCH),
        (
            {
                "remove": ["quotas"],
                "insert": {"processor": "QuotaEnforcer", "after": "preselect", "name": "q"},
            },
            ["preselect", "q", *[n for n in FETCH[1:] if n != "quotas"]],
        ),
        (
            ["preconditions", "fetch-dns", {"processor": "FetchHTTP"}],
            ["preconditions", "fetch-dns", "fetch-http"],
        ),
        (
            ["preconditions", "fetch-dns", {"processor": "org.archive.modules.fetcher.FetchHTTP"}],
            ["preconditions", "fetch-dns", "fetch-http"],
        ),
    ],
)
def test_a_chain_is_a_list_or_what_is_other(said: Any, expected: list[str]):
    assert labels(chains(fetch=said)) == expected


@pytest.mark.parametrize(
    ("said", "place", "message"),
    [
        (
            {"fetch": {"insert": [{"processor": "quotaz"}]}},
            "chains.fetch.insert.0",
            "did you mean `quotas`",
        ),
        (
            {"fetch": {"insert": [{"before": "quotas"}]}},
            "chains.fetch.insert.0",
            "says no `processor`",
        ),
        (
            {"fetch": {"insert": [{"processor": "quotas", "before": "q", "after": "x"}]}},
            "chains.fetch.insert.0",
            "either `before` or `after`",
        ),
        (
            {
                "fetch": {
                    "remove": ["preselect"],
                    "insert": [{"processor": "preselect", "after": "quota"}],
                }
            },
            "chains.fetch.insert.0.after",
            "did you mean `quotas`",
        ),
        ({"fetch": {"remove": ["presel"]}}, "chains.fetch.remove.0", "did you mean `preselect`"),
        ({"fetch": {"reorder": ["quotas", "quotas"]}}, "chains.fetch.reorder", "twice"),
        (
            {"fetch": {"preselec": {"enabled": False}}},
            "chains.fetch.preselec",
            "did you mean `preselect`",
        ),
        (
            {"fetch": {"preselect": {"block_al": 1}}},
            "chains.fetch.preselect.block_al",
            "`block_all`",
        ),
        ({"fetch": {"preselect": False}}, "chains.fetch.preselect", "must be a section"),
        (
            {"fetch": {"preselect": {"block_by_regex": "("}}},
            "chains.fetch.preselect.block_by_regex",
            "not a regular",
        ),
        (
            {"fetch": {"preselect": {"enabled": "perhaps"}}},
            "chains.fetch.preselect.enabled",
            "boolean",
        ),
        (
            {"fetch": {"preselect": {"gate": {"rule": "rejects"}}}},
            "chains.fetch.preselect.gate.0",
            "did you mean `reject`",
        ),
        (
            {"fetch": ["preconditions", "fetch-dns", "fetch-htpp"]},
            "chains.fetch.2",
            "did you mean `fetch-http`",
        ),
        ({"fetch": "preselect"}, "chains.fetch", "a list of processors"),
        (
            {"fetch": {"remove": ["fetch-dns"]}},
            "chains.fetch",
            "`preconditions` needs addresses of hosts, which `fetch-dns`",
        ),
        (
            {"fetch": {"fetch-http": {"enabled": False}}},
            "chains.fetch",
            "`extract` needs a reply, which `fetch-http`",
        ),
        (
            {"fetch": {"reorder": ["extract", "fetch-http"]}},
            "chains.fetch",
            "that comes after it",
        ),
        ({"fetch": ["archive"]}, "chains.fetch", "only in: disposition"),
        ({"fetch": {"insert": ["quotas"]}}, "chains.fetch", "only once"),
        ({"candidate": {"remove": ["prepare"]}}, "chains.candidate", "needs `prepare`"),
        ({"candidate": {"prepare": {"gate": "reject"}}}, "chains.candidate", "can have no gate"),
        (
            {"disposition": {"reorder": ["candidates", "archive"]}},
            "chains.disposition",
            "keep their order",
        ),
    ],
)
def test_mistakes_are_told_with_their_place(said: Any, place: str, message: str):
    with pytest.raises(ValidationError) as caught:
        JobSettings.model_validate({"chains": said})
    told = {".".join(map(str, item["loc"])): item["msg"] for item in caught.value.errors()}
    assert message in told[place]


def test_all_mistakes_at_once():
    with pytest.raises(ValidationError) as caught:
        chains(fetch={"remove": ["x"], "insert": ["y"], "preselect": {"z": 1}, "quotas": 2})
    assert caught.value.error_count() == 4


def test_settings_of_an_entry_by_path():
    settings = chains(fetch={"preselect": {"gate": "reject", "comment": "why"}})
    path = "chains.fetch.preselect"
    assert find(settings, f"{path}.comment").value == "why"
    changed = with_values(settings, {f"{path}.block_all": True})
    assert find(changed, f"{path}.block_all").value is True
    assert find(changed, f"{path}.gate.reject.enabled").value is True
    assert find(settings, path.rpartition(".")[0]).sheets is False
    assert find(settings, f"{path}.block_all").sheets is True
    assert find(settings, "chains.candidate.prepare.enabled").sheets is False
    # What nobody touched stays the same object, so that its chain is not built again.
    assert changed.chains.candidate is settings.chains.candidate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: x\n", "name: x\nchains:\n  fetch:\n    preselect:\n      block_all: true\n"),
        (
            "chains:\n  fetch: # mine\n    remove: [quotas]\n",
            "chains:\n  fetch: # mine\n    remove: [quotas]\n"
            "    preselect:\n      block_all: true\n",
        ),
        (
            "chains:\n  fetch:\n    - quotas\n    - preselect\n",
            "chains:\n  fetch:\n    - quotas\n    - processor: preselect\n      block_all: true\n",
        ),
        (
            "chains:\n  fetch:\n    - quotas\n    - {name: preselect, processor: y}\n",
            "chains:\n  fetch:\n    - quotas\n"
            "    - {name: preselect, processor: y, block_all: true}\n",
        ),
    ],
)
def test_set_changes_the_file(tmp_path: Any, text: str, expected: str):
    changer = SettingsEditor(JobSettings(), tmp_path, running=True)
    changer.put("chains.fetch.preselect.block_all", True)
    assert amended(text, changer.finish().edits) == expected


def test_what_a_gate_may_ask():
    fetch, final = STOCK[ChainName.FETCH], STOCK[ChainName.DISPOSITION]
    assert gate_place(ChainName.CANDIDATE, STOCK[ChainName.CANDIDATE], 0) is RulePlace.CANDIDATES
    places = [gate_place(ChainName.FETCH, fetch, number) for number in range(len(fetch))]
    assert places == [RulePlace.BEFORE_FETCH] * 7 + [RulePlace.AFTER_FETCH] * 3
    assert gate_place(ChainName.DISPOSITION, final, 0) is RulePlace.AFTER_FETCH
    assert gate_place(ChainName.DISPOSITION, final, 1) is RulePlace.DISPOSITION
