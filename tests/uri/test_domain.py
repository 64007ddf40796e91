from pathlib import Path

import pytest
from publicsuffixlist import PSLFILE, PublicSuffixList

from nacre.errors import URIError
from nacre.uri.domain import (
    host_to_ascii,
    host_to_unicode,
    is_public_suffix,
    is_top_level,
    registered_domain,
    registry_domain,
    registry_suffix,
)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("a.b.city.kawasaki.jp", "city.kawasaki.jp"),
        ("x.user.github.io", "user.github.io"),
        ("www.xn--fsqu00a.xn--55qx5d.cn", "xn--fsqu00a.xn--55qx5d.cn"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("sub.host.test", "host.test"),
        ("10.0.0.1", "10.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("", ""),
    ],
)
def test_registered_domain(host, domain):
    assert registered_domain(host) == domain


def test_public_suffixes():
    assert is_public_suffix("co.uk")
    assert is_public_suffix("github.io")
    assert not is_public_suffix("example.co.uk")
    assert not is_public_suffix("10.0.0.1")
    assert not is_public_suffix("")


@pytest.mark.parametrize("label", ["com", "uk", "museum", "xn--fiqs8s"])
def test_top_level_domains(label):
    assert is_top_level(label)


@pytest.mark.parametrize("label", ["", "html", "co.html", "invalid"])
def test_other_labels(label):
    assert not is_top_level(label)


def test_what_registries_know():
    assert registry_suffix("www.example.co.uk") == "co.uk"
    assert registry_suffix("x.github.io") == "io"
    assert registry_suffix("example.com.nn") == ""
    assert registry_suffix("140.211.11.130") == ""
    assert registry_domain("x.github.io.") == "github.io"
    assert registry_domain("com") == "com"
    assert registry_domain("example.com.nn") == "example.com.nn"
    assert registry_domain("[::1]") == "[::1]"


def suffix_rules() -> list[str]:
    """The rules of the list, as they are written."""
    lines = Path(PSLFILE).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("//")]


def test_top_level_domains_are_those_of_the_list() -> None:
    suffixes = PublicSuffixList()
    labels = {label for rule in suffix_rules() for label in rule.split(".")} | {
        "",
        "html",
        "localhost",
    }
    assert len(labels) > 5000
    for label in labels:
        listed = suffixes.publicsuffix(f"x.{label}", accept_unknown=False) is not None
        assert is_top_level(label) is listed


@pytest.mark.parametrize(
    ("host", "new", "old"),
    [
        ("straße.de", "xn--strae-oqa.de", "strasse.de"),
        ("нЭб.РФ", "xn--90ax2c.xn--p1ai", "xn--90ax2c.xn--p1ai"),
        ("www.Example.com", "www.example.com", "www.example.com"),
        ("рф.xn--p1ai", "xn--p1ai.xn--p1ai", "xn--p1ai.xn--p1ai"),
        ("a..b", "a..b", "a..b"),
        ("bücher。de\uff0e", "xn--bcher-kva.de.", "xn--bcher-kva.de."),
    ],
)
def test_to_ascii(host, new, old):
    assert host_to_ascii(host) == new
    assert host_to_ascii(host, idna2008=False) == old


def test_to_unicode():
    assert host_to_unicode("Xn--90Ax2c.xN--P1ai") == "нэб.рф"
    assert host_to_unicode("xn--strae-oqa.De") == "straße.de"
    assert host_to_unicode("xn--90ax2c.РФ", idna2008=False) == "нэб.рф"
    assert host_to_unicode("xn--9999999.de", idna2008=False) == "xn--9999999.de"
    assert host_to_unicode("xn--90ax2c｡ﬁ\xad", idna2008=False) == "нэб.ﬁ\xad"


def test_what_is_no_host_name():
    with pytest.raises(URIError, match="not a label"):
        host_to_ascii("é" * 80 + ".de", idna2008=False)
    with pytest.raises(URIError, match="empty label"):
        host_to_ascii("é..de", idna2008=False)
    with pytest.raises(URIError, match="not a host name"):
        host_to_ascii("é\ufffd.de")
