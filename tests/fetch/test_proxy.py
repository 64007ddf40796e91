import pytest

from nacre.fetch.proxy import Proxy, parse_proxy, proxy_authorization


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://p.test:8080", Proxy("http", "p.test", 8080)),
        ("http://p.test/", Proxy("http", "p.test", 3128)),
        ("https://p.test", Proxy("https", "p.test", 443)),
        ("socks5://me:p%40ss@[::1]:9", Proxy("socks5", "::1", 9, "me", "p@ss")),
    ],
)
def test_proxy_urls(url: str, proxy: Proxy) -> None:
    assert parse_proxy(url) == proxy


@pytest.mark.parametrize("url", ["p.test:80", "socks4://p.test", "http://", "http://p.test/x"])
def test_what_is_no_proxy(url: str) -> None:
    with pytest.raises(ValueError, match="not a proxy"):
        parse_proxy(url)


def test_authorization() -> None:
    assert proxy_authorization(Proxy("http", "p.test", 1)) == b""
    assert proxy_authorization(Proxy("http", "p.test", 1, "Aladdin", "open sesame")) == (
        b"Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"
    )
