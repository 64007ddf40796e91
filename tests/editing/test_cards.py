from pathlib import Path

import pytest

from nacre.config.check import Loaded
from nacre.editing.cards import card_lists, changed_text, read_change
from nacre.errors import ConfigError, JobError
from nacre.machine.layout import Layout
from nacre.settings.load import examine_text
from nacre.settings.settings import JobSettings

BASE = "seeds: [http://127.0.0.1:9/]\n"


def loaded(text: str, root: Path) -> Loaded[JobSettings]:
    found, problems = examine_text(Layout(root), text)
    assert found is not None
    assert problems == []
    return found


def changed(text: str, root: Path, change: str, said: str = "", kind: str = "") -> str:
    made = changed_text(text, loaded(text, root), read_change(change, said, kind))
    loaded(made, root)
    return made


def labels(text: str, root: Path, path: str) -> list[str]:
    lists = {one["path"]: one["cards"] for one in card_lists(loaded(text, root))}
    return [card["label"] + "" if card["enabled"] else f"({card['label']})" for card in lists[path]]


def test_every_list_of_rules_has_cards(tmp_path: Path):
    text = BASE + "chains: {fetch: {extract: {gate: [{rule: reject}]}}}\n"
    found = {one["path"]: one for one in card_lists(loaded(text, tmp_path))}
    assert list(found) == [
        "scope", "fetch.midfetch", "fetch.credentials", "uri.normalize", "bandwidth.windows",
        "cycle.scoring", "cycle.index.writers", "cycle.index.filters",
        "chains.candidate", "chains.fetch", "chains.disposition", "chains.fetch.extract.gate",
    ]  # fmt: skip
    assert [one["label"] for one in found["chains.fetch.extract.gate"]["cards"]] == ["reject"]
    assert [bool(card["fixed"]) for card in found["chains.candidate"]["cards"]] == [False, True]
    assert {"name": "block_all"}.items() <= found["chains.fetch"]["cards"][0]["fields"][3].items()
    assert "matches-regex" in {kind["name"] for kind in found["scope"]["kinds"]}
    assert "preselect" in {kind["name"] for kind in found["chains.fetch"]["kinds"]}


def test_a_stock_chain_is_changed_by_what_differs(tmp_path: Path):
    made = changed(BASE, tmp_path, "chains.fetch 0 down")
    assert labels(made, tmp_path, "chains.fetch")[:2] == ["runtime-limit", "preselect"]
    made = changed(made, tmp_path, "chains.fetch 0 disable")
    assert labels(made, tmp_path, "chains.fetch")[:2] == ["(runtime-limit)", "preselect"]
    made = changed(made, tmp_path, "chains.fetch 0 enable")
    made = changed(made, tmp_path, "chains.fetch 0 set", "comment: 十分钟")
    assert "comment: 十分钟" in made
    made = changed(made, tmp_path, "chains.fetch 0 remove")
    assert labels(made, tmp_path, "chains.fetch")[0] == "preselect"
    count = len(labels(made, tmp_path, "chains.fetch"))
    made = changed(made, tmp_path, f"chains.fetch {count} add", "", "extract-implied-uri")
    added = labels(made, tmp_path, "chains.fetch").index("extract-implied-uri")
    made = changed(made, tmp_path, f"chains.fetch {added} remove")
    assert "extract-implied-uri" not in made
    with pytest.raises(JobError, match="at the end"):
        changed(BASE, tmp_path, "chains.fetch 0 up")


def test_a_chain_that_the_file_lists_is_changed_in_its_list(tmp_path: Path):
    text = BASE + (
        "chains:\n  fetch:\n    # first\n    - preselect\n    - preconditions\n    - fetch-dns\n"
        "    - fetch-http\n    - processor: extract  # links\n"
    )
    made = changed(text, tmp_path, "chains.fetch 0 disable")
    assert labels(made, tmp_path, "chains.fetch")[0] == "(preselect)"
    made = changed(text, tmp_path, "chains.fetch 0 down")
    assert labels(made, tmp_path, "chains.fetch")[:2] == ["preconditions", "preselect"]
    assert "    # first\n    - preselect\n" in made
    assert "# links" in made


def test_rules_elsewhere_than_in_the_scope_are_changed_too(tmp_path: Path):
    made = changed(BASE, tmp_path, "fetch.midfetch 0 add", "regex: tmp", "matches-regex")
    made = changed(made, tmp_path, "fetch.midfetch 1 add", "", "accept")
    assert labels(made, tmp_path, "fetch.midfetch") == ["matches-regex", "accept"]
    made = changed(made, tmp_path, "fetch.midfetch 1 up")
    assert labels(made, tmp_path, "fetch.midfetch") == ["accept", "matches-regex"]
    made = changed(made, tmp_path, "fetch.midfetch 1 negate")
    assert "rule: not" in made
    made = changed(made, tmp_path, "fetch.midfetch 1 negate")
    assert "rule: not" not in made
    gated = changed(BASE + "chains: {fetch: {extract: {gate: [{rule: reject}]}}}\n", tmp_path,
                    "chains.fetch.extract.gate 0 disable")  # fmt: skip
    assert labels(gated, tmp_path, "chains.fetch.extract.gate") == ["(reject)"]


def test_what_is_no_change_is_refused(tmp_path: Path):
    for change, said, why in (
        ("scope x up", "", "no rule 'x'"),
        ("scope 99 up", "", "has no rule 99"),
        ("robots 0 up", "", "no list of rules 'robots'"),
        ("scope 0 burn", "", "cannot be changed by 'burn'"),
        ("chains.fetch 0 burn", "", "cannot be changed by 'burn'"),
        ("scope 0 set", "- a\n- b", "`name: value` lines"),
        ("bandwidth.windows 0 add", "", "write the value to add"),
    ):
        with pytest.raises(JobError, match=why):
            changed(BASE, tmp_path, change, said)
    with pytest.raises(ConfigError):
        changed(BASE, tmp_path, "scope 0 set", "regex: [")


def filled(text: str, root: Path, change: str, fields: dict[str, str], kind: str = "") -> str:
    made = changed_text(text, loaded(text, root), read_change(change, "", kind, fields))
    loaded(made, root)
    return made


def test_a_field_of_a_card_is_changed_and_the_rest_stays_as_it_is_written(tmp_path: Path):
    text = BASE + (
        "scope:\n  - rule: surt-prefixed  # 前缀\n  - {rule: too-many-hops, max_hops: 3}  # deep\n"
    )
    made = filled(text, tmp_path, "scope 1 fields", {"max_hops": "7", "comment": "七"})
    assert "max_hops: 7, comment: 七}" in made
    assert "# deep" in made
    assert "# 前缀" in made
    assert "max_hops" not in filled(text, tmp_path, "scope 1 fields", {"max_hops": ""})
    made = filled(BASE, tmp_path, "chains.fetch 0 fields", {"comment": "十分钟"})
    assert "comment: 十分钟" in made
    found = {one["path"]: one for one in card_lists(loaded(text, tmp_path))}
    fields = {one["name"]: one for one in found["scope"]["cards"][1]["fields"]}
    assert (fields["max_hops"]["kind"], fields["max_hops"]["value"]) == ("scalar", "3")
    with pytest.raises(JobError, match="no field 'rule'"):
        filled(text, tmp_path, "scope 1 fields", {"rule": "reject"})
    with pytest.raises(ConfigError, match=r"line|YAML|expected"):
        filled(text, tmp_path, "scope 1 fields", {"max_hops": "[1"})


def test_logins_are_cards_and_their_passwords_are_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ARCHIVE_PASSWORD", "s3cret-of-env")
    text = BASE + (
        "fetch:\n  credentials:\n    - origin: https://a.example\n      username: anna\n"
        "      password: s3cret-in-file\n"
    )
    (found,) = [
        one for one in card_lists(loaded(text, tmp_path)) if one["path"] == "fetch.credentials"
    ]
    assert "s3cret" not in str(found)
    (card,) = found["cards"]
    assert (card["label"], card["hides"]) == ("https://a.example", True)
    assert [one["name"] for one in found["fields"]] == ["origin", "realm", "username", "password"]
    made = filled(text, tmp_path, "fetch.credentials 0 fields", {"username": "berta"})
    assert "username: berta\n      password: s3cret-in-file\n" in made
    reference = {"password": "{env: ARCHIVE_PASSWORD}"}
    made = filled(text, tmp_path, "fetch.credentials 0 fields", reference)
    assert "s3cret" not in made
    new = {"origin": "https://b.example", "username": "carl", **reference}
    made = filled(text, tmp_path, "fetch.credentials 1 add", new)
    assert labels(made, tmp_path, "fetch.credentials") == ["https://a.example", "https://b.example"]
    made = filled(BASE, tmp_path, "fetch.credentials 0 add", new)
    assert labels(made, tmp_path, "fetch.credentials") == ["https://b.example"]
    with pytest.raises(ConfigError, match="reference"):
        filled(text, tmp_path, "fetch.credentials 0 fields", {"password": "typed"})
