"""One function builds scope, gates and sheets, for a run and for all who ask beside it."""

from pathlib import Path
from typing import Any

import pytest

from nacre.assembly.rules import draft_rules, open_rules
from nacre.engine.chain.entry import ChainName
from nacre.engine.seeding.seedbook import SeedBook
from nacre.errors import ConfigError
from nacre.scope.scope import Scope
from nacre.scope.seeds import Seed, read_seeds
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

LINES = ("http://a.test/x/", "http://b.test/ scope=page", "+http://c.test/", "-http://a.test/x/no/")
URLS = (
    "http://a.test/x/1", "http://a.test/2", "http://a.test/x/no/3", "http://b.test/4",
    "http://c.test/5",
)  # fmt: skip


def settings(**sections: Any) -> JobSettings:
    return JobSettings.model_validate(sections)


def accepted(scope: Scope) -> list[str]:
    return [url for url in URLS if scope.decide(Subject(url, path="L")).accepted]


def test_a_seed_list_and_a_seed_book_make_the_same_scope(tmp_path: Path):
    listed, booked = open_rules(settings(), tmp_path), open_rules(settings(), tmp_path)
    seeds = listed.add_seeds(read_seeds(LINES))
    assert [seed.url for seed in seeds] == ["http://a.test/x/", "http://b.test/"]

    book = SeedBook(Store(MemoryEngine()), booked.scope_state)
    book.add_all([entry for entry in read_seeds(LINES) if isinstance(entry, Seed)])
    book.direct(["+http://c.test/", "-http://a.test/x/no/"])

    known = ["http://a.test/x/1", "http://c.test/5"]
    assert accepted(listed.scope()[0]) == accepted(booked.scope()[0]) == known


def test_a_scope_follows_the_sheets(tmp_path: Path):
    rules = open_rules(
        settings(
            sheets={"none": {"scope": ["reject"]}},
            sheet_associations=[{"surts": ["http://a.test/x/"], "sheets": ["none"]}],
        ),
        tmp_path,
    )
    rules.add_seeds(read_seeds(["http://a.test/"]))
    scope = rules.scope()
    subject = Subject("http://a.test/x/1", path="L")
    assert scope[0].decide(subject).accepted
    assert not scope[rules.sheets.overlay(subject)].decide(subject).accepted


@pytest.mark.parametrize(
    ("gate", "expected"), [({}, True), ({"gate": "reject"}, False), ({"gate": "accept"}, True)]
)
def test_a_gate_is_open_or_closed_for_all(tmp_path: Path, gate: dict[str, Any], expected: object):
    rules = open_rules(settings(chains={"fetch": {"extract": gate}}), tmp_path)
    entries = rules.settings.chains.of(ChainName.FETCH)
    number = [entry.kind for entry in entries].index("extract")
    assert rules.gate(ChainName.FETCH, number) is expected


def test_a_gate_that_asks_about_urls_is_asked(tmp_path: Path):
    gate = {"gate": [{"rule": "matches-regex", "regex": "a", "decision": "REJECT"}]}
    rules = open_rules(settings(chains={"fetch": {"extract": gate}}), tmp_path)
    entries = rules.settings.chains.of(ChainName.FETCH)
    number = [entry.kind for entry in entries].index("extract")
    found = rules.gate(ChainName.FETCH, number)
    assert not isinstance(found, bool)


def test_a_file_of_an_association_that_is_missing_is_named(tmp_path: Path):
    made = settings(
        sheets={"slow": {"politeness": {"delay": 9}}},
        sheet_associations=[{"surts_file": "no.txt", "sheets": ["slow"]}],
    )
    with pytest.raises(ConfigError, match=r"no\.txt cannot be read"):
        open_rules(made, tmp_path)


def test_a_draft_reads_no_file():
    made = settings(
        scope=[{"rule": "surt-prefixed", "files": ["surts.txt"], "decision": "ACCEPT"}],
        sheet_associations=[{"surts_file": "no.txt", "sheets": ["slow"]}],
    )
    assert accepted(draft_rules(made).scope()[0]) == []
