"""What an explanation says about the signatures of requests."""

from pathlib import Path

import pytest

from nacre.cli.explain_text import explanation_lines
from nacre.config.secret import Secret
from nacre.fetch.identity import IdentitySettings
from nacre.fetch.identity_keys import format_keys, make_key, parse_keys
from nacre.inspect.explain.explain import Explainer
from nacre.inspect.explain.signing import SigningAnswer, signing_answer
from nacre.inspect.view import View
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.store.memory import MemoryEngine
from tests.wire.signatures import KEYID, NOW, PEM

DIRECTORY = "https://crawler.test"
WELL_KNOWN = f"{DIRECTORY}/.well-known/http-message-signatures-directory"
SIGNED = {"key": Secret(PEM, {"env": "KEY"}), "directory": DIRECTORY}
UNSIGNED = {
    "sheets": {"unsigned": {"identity.key": ""}},
    "sheet_associations": [{"sheets": ["unsigned"], "surts": ["http://a.test/plain/"]}],
}


def explained(url: str, **settings: object) -> tuple[SigningAnswer | None, list[str]]:
    view = View(
        Layout(Path("job")), JobSettings.model_validate(settings), Store(MemoryEngine()),
        SystemClock(), origin=lambda path: "default" if "key" not in path else "crawl.yaml:7",
    )  # fmt: skip
    explanation = Explainer(view).explain(url)
    lines = [line for line in explanation_lines(explanation) if line.startswith("  signed ")]
    return explanation.signing, lines


def test_the_key_and_its_origin():
    signing, lines = explained("http://a.test/", identity=SIGNED, **UNSIGNED)
    assert signing == SigningAnswer(KEYID, WELL_KNOWN, "crawl.yaml:7")
    assert lines == [f"  signed      by the key {KEYID}, from crawl.yaml:7"]


def test_a_sheet_switches_it_off():
    signing, lines = explained("http://a.test/plain/x", identity=SIGNED, **UNSIGNED)
    assert signing == SigningAnswer("", "", "sheet unsigned, crawl.yaml:7")
    assert lines == ["  signed      no, from sheet unsigned, crawl.yaml:7"]


def test_the_address_of_a_host_is_not_asked_by_a_signed_request():
    assert explained("dns:a.test", identity=SIGNED) == (None, [])


@pytest.mark.parametrize(
    ("origin", "is_said"), [("default", False), ("program", False), ("crawl.yaml:7", True)]
)
def test_without_a_key(origin: str, is_said: bool):
    answer = signing_answer(IdentitySettings(), NOW, origin)
    assert answer == (SigningAnswer("", "", origin) if is_said else None)


def test_the_key_that_signs_now():
    old, new = parse_keys(PEM)[0], make_key(NOW + 100)
    text = format_keys([new, old])
    settings = IdentitySettings(key=Secret(text, {"env": "KEY"}), directory=DIRECTORY)
    for now, keyid in ((NOW + 99, KEYID), (NOW + 100, new.keyid)):
        found = signing_answer(settings, now, "crawl.yaml:7")
        assert found is not None
        assert found.keyid == keyid


def test_a_user_who_cannot_read_the_key_gets_the_answer_with_a_note():
    unread = {"key": Secret("", {"file": "key.pem"}), "directory": DIRECTORY}
    signing, lines = explained("http://a.test/", identity=unread)
    assert signing == SigningAnswer("", WELL_KNOWN, "crawl.yaml:7", "{file: key.pem}")
    assert lines == [
        "  signed      yes, from crawl.yaml:7; this user cannot read the key {file: key.pem}"
    ]
    signing, _ = explained("http://a.test/plain/x", identity=unread, **UNSIGNED)
    assert signing == SigningAnswer("", "", "sheet unsigned, crawl.yaml:7")
