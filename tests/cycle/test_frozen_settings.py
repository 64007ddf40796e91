"""The settings of segments and versions."""

from typing import Any

import pytest

from nacre.cycle.frozen_settings import settings_hash
from tests.cycle.lists import settings


def hashed(**sections: Any) -> str:
    return settings_hash(settings(**sections))


def proxy(word: str) -> dict[str, Any]:
    return {"proxy": f"http://user:{word}@proxy.test:3128"}


def test_settings_have_another_hash_when_one_of_them_is_another():
    assert len(hashed()) == 64
    assert hashed() == hashed(politeness={"delay": 0.0, "in_flight": 4})
    assert hashed() != hashed(politeness={"delay": 0.0, "in_flight": 5})
    assert hashed() != hashed(scope=[{"rule": "accept"}])


def test_no_word_can_be_tried_against_a_hash(monkeypatch: pytest.MonkeyPatch):
    assert hashed(fetch=proxy("one")) == hashed(fetch=proxy("two"))
    assert hashed(seeds=["http://u:one@a.test/"]) == hashed(seeds=["http://u:two@a.test/"])
    found = set()
    for word in ("one", "two"):
        monkeypatch.setenv("WORD", f"http://user:{word}@proxy.test:3128")
        found.add(hashed(fetch={"proxy": {"env": "WORD"}}))
    assert len(found) == 1
    monkeypatch.setenv("OTHER", "http://user:two@proxy.test:3128")
    assert found != {hashed(fetch={"proxy": {"env": "OTHER"}})}
