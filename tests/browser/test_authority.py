import stat
from pathlib import Path

import pytest
from cryptography import x509

from nacre.browser.authority import CERTIFICATE_FILE, KEY_FILE, CertificateAuthority
from nacre.errors import ConfigError
from nacre.machine.clock import MovedClock


def test_contexts_are_kept(tmp_path: Path) -> None:
    authority = CertificateAuthority(scratch=tmp_path)
    first = authority.context_for("h.test")
    assert authority.context_for("h.test") is first
    assert authority.context_for("::1") is not first
    assert list(tmp_path.iterdir()) == []
    authority.delete()
    assert authority.context_for("h.test") is not first


def test_the_oldest_context_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacre.browser.authority._MOST_HOSTS", 2)
    authority = CertificateAuthority()
    first = authority.context_for("a.test")
    for name in ("b.test", "a.test", "c.test"):
        authority.context_for(name)
    assert authority.context_for("a.test") is first


@pytest.mark.parametrize("name", ["ä.test", "h\n.test"])
def test_names_that_no_certificate_can_have(name: str) -> None:
    authority = CertificateAuthority()
    if name.isascii():
        authority.context_for(name)  # a name of odd bytes harms nobody
    else:
        with pytest.raises(ValueError, match="idna"):
            authority.context_for(name)


def test_an_authority_that_is_kept(tmp_path: Path) -> None:
    first = CertificateAuthority.open_in(tmp_path)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert (tmp_path / CERTIFICATE_FILE).read_bytes() == first.certificate
    assert CertificateAuthority.open_in(tmp_path).spki_hash == first.spki_hash
    certificate = x509.load_pem_x509_certificate(first.certificate)
    constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert (constraints.ca, constraints.path_length) == (True, 0)


def test_one_that_has_run_out_is_made_again(tmp_path: Path) -> None:
    old = CertificateAuthority(clock=MovedClock(1_000_000_000))
    old.save_in(tmp_path)
    assert CertificateAuthority.open_in(tmp_path).spki_hash != old.spki_hash


@pytest.mark.parametrize("broken", [CERTIFICATE_FILE, KEY_FILE])
def test_broken_files_are_named(tmp_path: Path, broken: str) -> None:
    CertificateAuthority.open_in(tmp_path)
    (tmp_path / broken).write_text("nothing")
    with pytest.raises(ConfigError, match="Delete both"):
        CertificateAuthority.open_in(tmp_path)


def test_files_of_two_authorities(tmp_path: Path) -> None:
    CertificateAuthority.open_in(tmp_path)
    (tmp_path / CERTIFICATE_FILE).write_bytes(CertificateAuthority().certificate)
    with pytest.raises(ConfigError, match="belong together"):
        CertificateAuthority.open_in(tmp_path)


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be opened"):
        CertificateAuthority.open_in(tmp_path / "absent")
