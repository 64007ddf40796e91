from typing import Any

import pytest

from nacre.config.place import with_values
from nacre.settings.secret_places import moved_secrets, resent_secrets, secret_places
from nacre.settings.settings import JobSettings

LOGIN = {"origin": "https://a.test", "username": "anna", "password": "hunter2"}
SOLR = {"writer": "solr", "url": "http://s.test/", "user": "u", "password": "solr-word"}
SEARCH = {"writer": "opensearch", "urls": ["https://o.test/"], "user": "u", "password": "word"}


def settings(**tree: Any) -> JobSettings:
    return JobSettings.model_validate(tree)


def test_each_secret_has_its_place_and_its_recipient():
    found = secret_places(
        settings(
            fetch={"credentials": [LOGIN], "proxy": "http://u:p@proxy.test:3128"},
            alerts={"webhook": {"url": "https://w.test/", "secret": "key"}},
            cycle={"index": {"writers": [SOLR, SEARCH]}},
        )
    )
    assert {(one.kind, one.sent_to) for one in found} == {
        ("fetch.credentials.*.password", ("origin=https://a.test",)),
        ("fetch.proxy", ()),
        ("alerts.webhook.secret", ("url=https://w.test/",)),
        ("cycle.index.writers.*.password", ("ca=", "url=http://s.test/")),
        ("cycle.index.writers.*.password", ("ca=", "urls=('https://o.test/',)")),
    }


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ({"credentials": [LOGIN]}, {"credentials": [LOGIN | {"origin": "http://e.test"}]}, True),
        ({"credentials": [LOGIN]}, {"credentials": [LOGIN | {"origin": "http://a.test"}]}, True),
        ({"credentials": [LOGIN]}, {"credentials": [LOGIN | {"username": "berta"}]}, False),
        ({"credentials": [LOGIN]}, {"credentials": [LOGIN], "timeout": 9}, False),
        (
            {"credentials": [LOGIN]},
            {"credentials": [LOGIN | {"origin": "http://e.test", "password": "other"}]},
            False,
        ),
        ({"credentials": [LOGIN]}, {"credentials": [LOGIN, LOGIN | {"realm": "x"}]}, False),
        ({"credentials": [LOGIN]}, {"credentials": []}, False),
    ],
)
def test_a_secret_moves_with_its_recipient(before: Any, after: Any, *, moved: bool):
    old, new = settings(fetch=before), settings(fetch=after)
    assert bool(moved_secrets(old, new, strict=False, references=True)) is moved


@pytest.mark.parametrize("key", ["url", "ca"])
def test_a_writer_of_an_index_is_bound_too(key: str):
    old = settings(cycle={"index": {"writers": [SOLR]}})
    other = settings(cycle={"index": {"writers": [SOLR | {key: "http://e.test/"}]}})
    assert [one.path for one in moved_secrets(old, other, strict=False, references=True)] == [
        "cycle.index.writers.0.password"
    ]


def test_what_was_not_there_counts_where_nobody_could_enter_it():
    new = settings(fetch={"credentials": [LOGIN]})
    assert not moved_secrets(settings(), new, strict=False, references=True)
    assert moved_secrets(settings(), new, strict=True, references=True)
    assert moved_secrets(None, new, strict=True, references=True)


def test_references_of_administrators_do_not_count(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WORD", "swordfish")
    login = LOGIN | {"password": {"env": "WORD"}}
    old = settings(fetch={"credentials": [login]})
    new = settings(fetch={"credentials": [login | {"origin": "http://e.test"}]})
    assert not moved_secrets(old, new, strict=False, references=False)
    assert moved_secrets(old, new, strict=False, references=True)


@pytest.mark.parametrize(
    "sheets",
    [
        {"s": {"fetch.credentials.0.origin": "http://e.test"}},
        {"s": {"fetch": {"credentials": [LOGIN | {"origin": "http://e.test"}]}}},
    ],
)
def test_a_sheet_sends_no_secret_elsewhere(sheets: Any):
    old = settings(fetch={"credentials": [LOGIN]})
    new = settings(fetch={"credentials": [LOGIN]}, sheets=sheets)
    assert moved_secrets(old, new, strict=False, references=True)


def test_two_sheets_send_no_secret_elsewhere_together():
    bare = {**LOGIN, "origin": "http://b.test", "password": ""}
    fetch = {"credentials": [bare]}
    one = {"one": {"fetch.credentials": [LOGIN]}}
    other = {"other": {"fetch.credentials.0.origin": "http://e.test"}}
    old, new = settings(fetch=fetch, sheets=one), settings(fetch=fetch, sheets=one | other)
    assert moved_secrets(old, new, strict=False, references=True)


def test_a_change_sends_a_secret_elsewhere_only_if_it_enters_it_again(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("WORD", "hunter2")
    old = settings(fetch={"credentials": [LOGIN]})
    origin = {"fetch.credentials.0.origin": "http://e.test"}
    assert resent_secrets(old, with_values(old, origin))
    entered = origin | {"fetch.credentials.0.password": {"env": "WORD"}}
    assert not resent_secrets(old, with_values(old, entered))
    assert not resent_secrets(old, with_values(old, {"fetch.credentials.0.username": "b"}))
    sheet = {"sheets": {"s": origin}}
    assert resent_secrets(old, with_values(old, sheet))
