import pytest

from nacre.errors import URIError
from nacre.uri.idn import host_to_ascii, host_to_unicode


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
    with pytest.raises(URIError, match="no label"):
        host_to_ascii("é" * 80 + ".de", idna2008=False)
    with pytest.raises(URIError, match="empty label"):
        host_to_ascii("é..de", idna2008=False)
    with pytest.raises(URIError, match="no host name"):
        host_to_ascii("é\ufffd.de")
