import pytest
from hypothesis import given

from nacre.errors import URIError
from nacre.uri.indexkey import index_key, reversed_host
from nacre.uri.parse import parse
from tests.uri.test_parse import TEXTS

ID = "0123456789abcdefghijklemopqrstuv"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.com", "com,example)/"),
        ("HTTPS://u:p@WWW2.Example.com:443/A/B/?", "com,example)/a/b"),
        ("https://example.com:80/", "com,example:80)/"),
        ("http://example.com:080/", "com,example)/"),
        ("http://example.com:0/", "com,example)/"),
        ("http://www.com/x", "com)/x"),
        ("http://www/x", "www)/x"),
        ("http://..a..b./", "b,a)/"),
        ("http://10.0.0.1/", "1,0,0,10)/"),
        ("http://1.2/", "2,0,0,1)/"),
        ("http://999.1.1.1/", "1,1,1,999)/"),
        ("http://[2001:db8::1]:81/", "2001:db8::1:81)/"),
        ("http://bücher.example/ü", "example,xn--bcher-kva)/%c3%bc"),
        ("http://a.b/x?b=2&a=1&a&B=1", "b,a)/x?a&a=1&b=1&b=2"),
        ("http://a.b/x?a-b=1&a=2", "b,a)/x?a=2&a-b=1"),
        ("http://a.b/%41%2525%20%23", "b,a)/a%25%20%23"),
        ("http://a.b//c/./d/../e//?x=%3D", "b,a)/c/e?x=="),
        ("http://a.b/../c", "b,a)/../c"),
        (f"http://a.b/x?sid={ID}", "b,a)/x"),
        (f"http://a.b/x?y=1&PHPSESSID={ID}&z=2", "b,a)/x?y=1&z=2"),
        ("http://a.b/x?cfid=1&cftoken=2", "b,a)/x"),
        ("http://a.b/(S(4hqa0555fwsecu455xqckv45))/x.aspx", "b,a)/x.aspx"),
        ("http://a.b/(4hqa0555fwsecu455xqckv45)/x.aspx", "b,a)/x.aspx"),
        ("http://a.b/(4hqa0555fwsecu455xqckv45)/x.html", "b,a)/(4hqa0555fwsecu455xqckv45)/x.html"),
        ("http://http://a.b/", "b,a)/"),
        ("http:///a.b/", "b,a)/"),
        (" a.b/c\n", "b,a)/c"),
        ("whois://whois.a.b/c", "b,a,whois)/c"),
        ("dns:WWW.a.b", "dns:www.a.b"),
        ("warcinfo:X.warc.gz", "warcinfo:X.warc.gz"),
        ("urn:pageinfo:http://A.b/", "urn:pageinfo:http://a.b"),
        ("urn:view:https://www.a.b/C/?b=2&a=1#x", "urn:view:https://www.a.b/c?a=1&b=2"),
        ("urn:text:https://a.b/?", "urn:text:https://a.b"),
        ("urn:dom:http://a.b/%41/中文/", "urn:dom:http://a.b/a/%e4%b8%ad%e6%96%87"),
        (f"urn:fullPage:http://a.b/x?sid={ID}&y", "urn:fullpage:http://a.b/x?y"),
        (
            "urn:view:http://a.b/(S(4hqa0555fwsecu455xqckv45))/x.aspx",
            "urn:view:http://a.b/x.aspx",
        ),
        # Indexes of differences exist with this key.
        ("urn:x-nacre-delta:http://a.b/", "urn:x-nacre-delta:http://a.b/"),
        ("", "-"),
    ],
)
def test_index_keys(url, key):
    assert index_key(url) == key


@given(TEXTS)
def test_any_text_has_a_key_of_one_line(text):
    key = index_key(text)
    assert key
    try:
        url = parse(text)
    except URIError:
        return
    assert index_key(url).isascii()
    assert not set(index_key(url)) & set(" \n\r\t")


def test_hosts():
    assert reversed_host("www.a.b") == "b,a,www"
    assert reversed_host("[::1]") == "::1"
