import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nacre.errors import URIError
from nacre.uri import parse as module
from nacre.uri.parse import (
    MAX_LENGTH,
    Resolver,
    UrlParts,
    authority,
    host,
    is_ip,
    origin,
    parse,
    request_target,
    scheme,
    split,
)

BASE = "http://www.example.com/docs/guide/intro.html?lang=en"

PIECES = st.sampled_from(
    [
        *(
            "http:",
            "https:",
            "mailto:",
            "dns:",
            "javascript:",
            "//",
            "/",
            "\\",
            "..",
            ".",
            "#",
            "?",
        ),
        *("a", "b.c", "1.2.3.4", "[::1]", "xn--a", "0x7f", "@", ":", ":80", ":0", "é", "中"),
        *("%2e", "%", "%zz", "%20", "&", "+", "|", "^", " ", "\xa0", "\t", "\n", "\x00", "\ud800"),
    ]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join))


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("  http://example.com/a b\xa0 ", "http://example.com/a%20b"),
        ("http://exam\tple.com/a\r\nb", "http://example.com/ab"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http:////example.com/a", "http://example.com/a"),
        ("http://example.com:0080/", "http://example.com/"),
        ("https://example.com:443/x", "https://example.com/x"),
        ("https://example.com:80/x", "https://example.com:80/x"),
        ("http://example.com/%7Ea/%zz%", "http://example.com/%7Ea/%zz%"),
        ("http://example.com/a#b?c", "http://example.com/a"),
        ("http://example.com/a #b", "http://example.com/a%20"),
        ("http://example.com/a?#", "http://example.com/a?"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://u:p@.example.com.:81/a", "http://u:p@example.com:81/a"),
        ("http://example.com%20/a", "http://example.com/a"),
        ("ht\ntp:\t//example.com%20\t/a", "http://example.com/a"),
        ("http://example.com \xa0/a", "http://example.com/a"),
        ("http://bücher.example/ä?ö", "http://xn--bcher-kva.example/%C3%A4?%C3%B6"),
        ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://1.2/", "http://1.0.0.2/"),
        ("dns:www.example.com", "dns:www.example.com"),
        ("x://u@.h.?a@b/c", "x://u@h?a@b/c"),
        ("urn:a b #c", "urn:a%20b%20"),
        ("whois://whois.example.com/x", "whois://whois.example.com/x"),
        ("http://a/?u=http://b./c", "http://a/?u=http://b./c"),
    ],
)
def test_what_is_requested(text, url):
    assert parse(text) == url


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "#",
            "example.com/a",
            "/a",
            "http://",
            "http://./",
            "http://a b/",
            "http://a\x01/",
            "http://a<b/",
        ),
        *("http://a:65536/", "http://a:x/", "http://[::1/", "http://a.1../", "http://\ud800/"),
        *("http://a/" + "b" * MAX_LENGTH, "http://a/" + "é" * 500),
    ],
)
def test_what_is_no_url(text):
    with pytest.raises(URIError):
        parse(text)


def test_the_limit_counts_the_escaped_url():
    assert parse("http://a/" + "b" * 11, max_length=20) == "http://a/" + "b" * 11
    with pytest.raises(URIError, match="longer than 20"):
        parse("http://a/" + "b" * 12, max_length=20)
    with pytest.raises(URIError, match="when escaped"):
        parse("http://a/" + "é" * 11, max_length=20)


@given(TEXTS)
@example("http://a.1..")
@example("http://@.a./")
@example("http://h/ #")
def test_a_url_parsed_again_stays_and_only_uri_errors_are_raised(text):
    try:
        url = parse(text)
    except URIError:
        return
    assert parse(url) == url
    assert url.isascii()
    assert url.isprintable()
    assert not set(url) & set("# ")


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("next.html", "http://www.example.com/docs/guide/next.html"),
        ("next.html#part", "http://www.example.com/docs/guide/next.html"),
        ("#top", BASE),
        ("?lang=de", "http://www.example.com/docs/guide/intro.html?lang=de"),
        (" \t?lang=de", "http://www.example.com/docs/guide/intro.html?lang=de"),
        ("http:?lang=de", "http://www.example.com/docs/guide/intro.html?lang=de"),
        ("http:", "http://www.example.com/docs/guide/intro.html?lang=en"),
        ("../img/a.png", "http://www.example.com/docs/img/a.png"),
        ("../../../../a", "http://www.example.com/a"),
        ("..", "http://www.example.com/docs/"),
        ("../", "http://www.example.com/docs/"),
        ("./", "http://www.example.com/docs/guide/"),
        ("a/.hidden/../b", "http://www.example.com/docs/guide/a/b"),
        ("/", "http://www.example.com/"),
        ("//cdn.example.net./x", "http://cdn.example.net/x"),
        ("//cdn.example.net%20/x", "http://cdn.example.net/x"),
        ("https://other.example/", "https://other.example/"),
        ("a b.html ", "http://www.example.com/docs/guide/a%20b.html"),
        ("a #x", "http://www.example.com/docs/guide/a%20"),
        ("a\xa0#x", "http://www.example.com/docs/guide/a%C2%A0"),
        ("sub\\file.html", "http://www.example.com/docs/guide/sub/file.html"),
        ("ftp://ftp.example.com/x", "ftp://ftp.example.com/x"),
        *((href, None) for href in ("", "  ", "\xa0", "javascript:void(0)", " JavaScript:x")),
        *((href, None) for href in ("data:text/plain,x", "mailto:a@b", "tel:1", "about:blank")),
        *((href, None) for href in ("http://[", "//", "http://a:99999/", "\ud800", "x" * 3000)),
    ],
)
def test_links(href, url):
    resolver = Resolver(BASE)
    assert resolver.resolve(href) == url
    assert resolver.resolve(href) == url, "the answer is the same when remembered"


def test_a_link_of_one_page_is_no_answer_for_another_in_its_directory():
    first, second = Resolver("http://h/d/a.html"), Resolver("http://h/d/b.html?x")
    for href in ("?q", "http:?q", "#f", "\n?q", "http:", " #f"):
        assert first.resolve(href) != second.resolve(href), href
    assert first.resolve("c") == second.resolve("c") == "http://h/d/c"


def test_bases_of_other_schemes_share_nothing():
    assert Resolver("x://a").resolve("/c") == "x://a/c"
    assert Resolver("x://b").resolve("/c") == "x://b/c"


def test_a_base_must_be_absolute():
    with pytest.raises(URIError):
        Resolver("/a")
    assert Resolver("dns:example.com").resolve("a") is None
    assert Resolver("dns:example.com").resolve("http://a/") == "http://a/"


@pytest.mark.parametrize(
    ("encoding", "href", "url"),
    [
        ("gbk", "ü?q=中&r=€", "http://h/%C3%BC?q=%D6%D0&r=%80"),
        ("cp1252", "?q=中é", "http://h/?q=%26%2320013%3B%E9"),
        ("cp932", "?q=ソ", "http://h/?q=%83\\"),
        ("iso2022_jp", "?q=み", "http://h/?q=%1B$B$_%1B(B"),
        ("utf-8", "?q=é", "http://h/?q=%C3%A9"),
        ("utf-16-le", "?q=é", "http://h/?q=%C3%A9"),
        ("no-such-codec", "?q=é", "http://h/?q=%C3%A9"),
        ("cp1252", "?q=é #x", "http://h/?q=%E9%20"),
        ("cp1252", "?q=\té\n", "http://h/?q=%E9"),
        ("cp1252", "wss://h/?é", "wss://h/?%C3%A9"),
        ("cp1252", "ftp://h/?é", "ftp://h/?%E9"),
    ],
)
def test_queries_are_written_in_the_encoding_of_the_document(encoding, href, url):
    assert Resolver("http://h/", encoding=encoding).resolve(href) == url


@given(TEXTS, st.sampled_from([BASE, "http://h/", "https://h:8/a/?b", "dns:h", "file:///a/b"]))
@example("", BASE)
@example("a/./b", BASE)
def test_resolving_never_raises_and_gives_normalised_urls(href, base):
    url = Resolver(base).resolve(href)
    assert url is None or parse(url) == url


@given(st.from_regex(r"(/|(\.\./){0,4})([a-z0-9._~-]{1,4}/){0,3}[A-Z0-9._~-]{0,4}", fullmatch=True))
def test_plain_paths_are_resolved_as_by_the_parser(href):
    expected = ada_url.join_url(BASE, href) if href else None
    assert Resolver(BASE).resolve(href) == expected


ORIGINS = [
    "http://a.test", "https://a.test:8", "http://A.test", "http://a.test:80", "http://u@h",
    "http://127.1", "http://a.test.", "http://h?q", "ftp://h", "http:/h", "http://h\\\\x", "http://é",
]  # fmt: skip


@given(
    st.sampled_from(ORIGINS),
    st.from_regex(
        r"/([A-Za-z0-9._~%-]{1,4}/){0,3}[A-Z0-9._~-]{0,4}(\?[a-z./:=&%#\"]{0,6})?", fullmatch=True
    ),
)
@example("http://a.test", "/a/..")
@example("http://a.test", "/.a/..b/c./?..%2e")
@example("http://a.test", "/a//b")
def test_a_base_that_needs_no_parser_is_as_the_parser_gives_it(where, path):
    try:
        expected = parse(where + path)
    except URIError:
        with pytest.raises(URIError):
            Resolver(where + path)
    else:
        assert Resolver(where + path).base == expected


def memory_of(links: module._SharedLinks) -> int:
    """Bytes of the links of both generations."""
    held = (*links._young.values(), *links._old.values())
    return sum(
        href.__sizeof__() + url.__sizeof__() + 100 for known in held for href, url in known.items()
    )


@pytest.mark.parametrize(
    ("directories", "letters"),
    [(1, 5), (1, 2_000), (20, 5), (20, 200), (1_000, 5), (1_000, 2_000)],
)
@pytest.mark.parametrize("sign", ["a", "名", "\U0001f600"])
def test_memory_for_links_is_bounded(directories, letters, sign):
    limit = 100_000
    links = module._SharedLinks(limit)
    most = 0
    for page in range(3_000):
        known = links.open((f"http://h/{page % directories}", "", 2_083))
        for number in range(4):
            links.keep(known, f"{page}-{number}{sign * letters}", f"http://h/{page}/{number}")
        most = max(most, memory_of(links))
    page_size = 4 * (letters * len(sign.encode("utf-16")) + 300)
    assert 0 < most <= 2.5 * limit + 2 * page_size


def test_links_of_the_last_directories_are_remembered():
    links = module._SharedLinks(limit=30_000)
    for page in range(500):
        known = links.open((f"http://h/{page}", "", 100))
        for number in range(50):
            links.keep(known, f"{number}.html", f"http://h/{page}/{number}.html")
    assert len(links.open(("http://h/499", "", 100))) == 50
    assert len(links.open(("http://h/498", "", 100))) == 50
    assert not links.open(("http://h/1", "", 100))


def test_parts():
    assert split("http://u:p@example.com:81/a/b?c?d=/e") == UrlParts(
        "http", "u:p", "example.com", 81, "/a/b", "c?d=/e"
    )
    assert split("http://[::1]/") == UrlParts("http", "", "[::1]", None, "/", None)
    assert split("http://[::1]:8/?") == UrlParts("http", "", "[::1]", 8, "/", "")
    assert split("dns:example.com") == UrlParts("dns", "", "", None, "example.com", None)


@pytest.mark.parametrize(
    ("url", "name", "where"),
    [
        ("http://u@example.com:81/a@b", "example.com", "example.com:81"),
        ("http://[::1]:8/", "[::1]", "[::1]:8"),
        ("http://[::1]/", "[::1]", "[::1]"),
        ("x://h?a/b@c", "h", "h"),
        ("dns:example.com?type=A", "example.com", ""),
        ("mailto:a@b?x=http://c/", "", ""),
        ("", "", ""),
        ("chrome-distiller://a.example:1/b", "a.example", "a.example:1"),
        ("a-long-scheme://国家.example", "国家.example", "国家.example"),
    ],
)
def test_host_and_authority(url, name, where):
    assert (host(url), authority(url)) == (name, where)
    assert origin(url) == (f"{scheme(url)}://{where}" if where else "")


def test_request_line_and_scheme():
    assert request_target("http://u@example.com/a?b=http://c/") == "/a?b=http://c/"
    assert request_target("http://example.com/") == "/"
    assert scheme("https://a/") == "https"
    assert scheme("no scheme") == ""


def test_addresses():
    for name in ("127.0.0.1", "[::1]", "::1", "2001:db8::1"):
        assert is_ip(name), name
    for name in ("", "example.com", "1.2.3.4.5", "a1", "[x]", "256.1.1.1", "1.2.3"):
        assert not is_ip(name), name
