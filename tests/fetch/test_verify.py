import ssl
from pathlib import Path

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.verify import Verifier

NOW = 1_795_000_000.0
YEARS = 365 * 86_400.0


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def verifier(authority: trustme.CA, tmp_path: Path) -> Verifier:
    path = tmp_path / "roots.pem"
    authority.cert_pem.write_to_path(path)
    return Verifier(path)


def chain_of(leaf: trustme.LeafCert) -> tuple[bytes, ...]:
    return tuple(ssl.PEM_cert_to_DER_cert(blob.bytes().decode()) for blob in leaf.cert_chain_pems)


@pytest.mark.parametrize(
    ("host", "verdict"),
    [
        ("a.test", "ok"),
        ("A.test.", "ok"),
        ("x.wild.test", "ok"),
        ("x.y.wild.test", "issued for another host"),
        ("192.0.2.1", "ok"),
        ("2001:db8::1", "ok"),
        ("192.0.2.2", "issued for another host"),
        ("b.test", "issued for another host"),
    ],
)
def test_names(authority: trustme.CA, verifier: Verifier, host: str, verdict: str) -> None:
    leaf = authority.issue_cert("a.test", "*.wild.test", "192.0.2.1", "2001:db8::1")
    assert verifier.verdict(chain_of(leaf), host, NOW) == verdict


def test_a_child_needs_its_issuer(authority: trustme.CA, verifier: Verifier) -> None:
    chain = chain_of(authority.create_child_ca().issue_cert("a.test"))
    assert verifier.verdict(chain, "a.test", NOW) == "ok"
    assert verifier.verdict(chain[:1], "a.test", NOW).startswith("not trusted: ")


def test_another_authority_is_not_trusted(verifier: Verifier) -> None:
    chain = chain_of(trustme.CA().issue_cert("a.test"))
    assert verifier.verdict(chain, "a.test", NOW).startswith("not trusted: ")


def test_time_counts(authority: trustme.CA, verifier: Verifier) -> None:
    chain = chain_of(authority.issue_cert("a.test"))
    assert verifier.verdict(chain, "a.test", NOW + 2000 * YEARS).startswith("expired on ")
    assert verifier.verdict(chain, "a.test", NOW - 50 * YEARS).startswith("not valid before ")


@pytest.mark.parametrize(
    ("chain", "verdict"),
    [((), "no certificate"), ((b"junk",), "unreadable certificate: ")],
)
def test_what_is_no_chain(verifier: Verifier, chain: tuple[bytes, ...], verdict: str) -> None:
    assert verifier.verdict(chain, "a.test", NOW).startswith(verdict)


@pytest.mark.parametrize("host", ["", "a b", "ä.test", "_x.a.test", "-"])
def test_no_host_raises(authority: trustme.CA, verifier: Verifier, host: str) -> None:
    chain = chain_of(authority.issue_cert("a.test"))
    assert verifier.verdict(chain, host, NOW) != "ok"


def test_without_roots_nothing_is_said(authority: trustme.CA, tmp_path: Path) -> None:
    chain = chain_of(authority.issue_cert("a.test"))
    verdict = Verifier(tmp_path / "absent").verdict(chain, "a.test", NOW)
    assert verdict == "no root certificates to verify with"


DER = chain_of(trustme.CA().issue_cert("a.test"))[0]


@given(st.lists(st.tuples(st.integers(0, len(DER) - 1), st.integers(0, 255)), min_size=1))
def test_no_certificate_raises(changes: list[tuple[int, int]]) -> None:
    broken = bytearray(DER)
    for at, byte in changes:
        broken[at] = byte
    assert "\n" not in Verifier().verdict((bytes(broken),), "a.test", NOW)


def test_a_name_that_is_no_text_is_unreadable(authority: trustme.CA, verifier: Verifier) -> None:
    """The library raises a TypeError for it."""
    leaf, *others = chain_of(authority.issue_cert("a.test"))
    length = len(leaf)
    at = leaf.index(b"trustme v") - 2
    assert leaf[at : at + 1] == b"\x0c", "an UTF8String"
    leaf = leaf[:at] + b"\x03" + leaf[at + 1 : at + 2] + b"\0" + leaf[at + 3 :]
    assert len(leaf) == length
    verdict = verifier.verdict((leaf, *others), "a.test", NOW)
    assert verdict.startswith("unreadable certificate: ")


def test_the_roots_of_the_system_are_read() -> None:
    if not ssl.create_default_context().get_ca_certs():
        pytest.skip("this system has no root certificates")
    verdict = Verifier().verdict((DER,), "a.test", NOW)
    assert verdict.startswith("not trusted: ")


def test_verdicts_are_forgotten_when_they_are_many(
    authority: trustme.CA, verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.fetch.verify.CACHE", 3)
    chain = chain_of(authority.issue_cert("*.a.test"))
    for number in range(9):
        assert verifier.verdict(chain, f"{number}.a.test", NOW) == "ok"
        assert len(verifier._verdicts) == min(number + 1, 3)
