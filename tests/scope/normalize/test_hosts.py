import pytest

from nacre.errors import URIError
from nacre.scope.normalize.hosts import Host, Protocol, Slash
from nacre.scope.nutch.ruling import Source

HOSTS = Source(["# c", "*.a.com a.com", "*.b.a.com b.org", "x.net  y.net", " z.net no", "only", ""])
SCHEMES = Source(["a.org\thttp", "*.a.com https", "b.org @x", "c.org http https"])
SLASHES = Source(["a.org +", "b.org -", "c.org ?"])


@pytest.mark.parametrize(
    ("normalizer", "url", "normal"),
    [
        (Host(HOSTS), "http://a@www.A.com:80/a.com?x", "http://a@a.com:80/a.com?x"),
        (Host(HOSTS), "http://www.b.a.com/", "http://b.org/"),
        (Host(HOSTS), "http://a.com/", "http://a.com/"),
        (Host(HOSTS), "http://x.net", "http://y.net"),
        (Host(HOSTS), "http://z.net/", "http://z.net/"),
        (Host(HOSTS), "mailto:x@x.net", "mailto:x@x.net"),
        (Protocol(SCHEMES), "https://a.org/x", "http://a.org/x"),
        (Protocol(SCHEMES), "http://www.a.com/", "https://www.a.com/"),
        (Protocol(SCHEMES), "http://a.com/", "https://a.com/"),
        (Protocol(SCHEMES), "http://a.com:80/", "http://a.com:80/"),
        (Protocol(SCHEMES), "http://b.org/", "http://b.org/"),
        (Protocol(SCHEMES), "https://c.org/", "https://c.org/"),
        (Slash(SLASHES), "http://a.org:81/p?q", "http://a.org:81/p/?q"),
        (Slash(SLASHES), "http://a.org/p.html", "http://a.org/p.html"),
        (Slash(SLASHES), "http://a.org/p.longer", "http://a.org/p.longer/"),
        (Slash(SLASHES), "http://a.org", "http://a.org/"),
        (Slash(SLASHES), "http://b.org/p/#r", "http://b.org/p#r"),
        (Slash(SLASHES), "http://b.org/", "http://b.org/"),
        (Slash(SLASHES), "http://c.org/p", "http://c.org/p"),
    ],
)
def test_rules_by_host(normalizer, url, normal):
    assert normalizer.normalize(url, "default") == normal


@pytest.mark.parametrize("normalizer", [Host(HOSTS), Protocol(SCHEMES), Slash(SLASHES)])
def test_what_is_no_url(normalizer):
    with pytest.raises(URIError):
        normalizer.normalize("no url", "default")
