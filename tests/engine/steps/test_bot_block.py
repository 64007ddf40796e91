import gzip

import pytest

from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from tests.engine.steps.test_content import worked

URL = "http://a.test/页"
ANUBIS = b'<html><script id="anubis_challenge" type="application/json">{}</script>'
CLOUD = b'<h1 data-translate="block_headline">Sorry, you have been blocked</h1>'
INCAPSULA = "<p>请求被拦截</p> Incapsula incident ID: 1-2".encode("gbk")


def reply(
    status: int, body: bytes = b"", mime: str = "text/html", url: str = URL, **fields: str
) -> Visit:
    named = ((name.replace("_", "-").title(), value) for name, value in fields.items())
    head = "HTTP/1.1 200 X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in named) + "\r\n"
    capture = Capture(
        url, b"", head.encode(), BytesBody(body), status, payload_length=len(body),
        headers=tuple((n.replace("_", "-").encode(), v.encode()) for n, v in fields.items()),
    )  # fmt: skip
    return Visit(CrawlURI(url, b"", "test,a,"), status=status, capture=capture, mime=mime)


@pytest.mark.parametrize(
    ("visit", "service"),
    [
        (reply(403, server="AkamaiGHost"), "akamai"),
        (reply(200, server="AkamaiGHost"), ""),
        (reply(307, location="/.within.website/?redir=%2F"), "anubis"),
        (reply(302, location="/.within.website/?redir=%2F"), ""),
        (reply(200, ANUBIS, set_cookie="techaro.lol-anubis-auth=x; Path=/"), "anubis"),
        (reply(200, ANUBIS), ""),
        (reply(200, ANUBIS, mime="text/plain", set_cookie="techaro.lol-anubis-auth=x"), ""),
        (reply(200, ANUBIS, mime="", set_cookie="techaro.lol-anubis-auth=x"), "anubis"),
        (reply(200, server="cloudflare", cf_mitigated="Challenge"), "cloudflare"),
        (reply(403, CLOUD, server="Cloudflare"), "cloudflare"),
        (reply(403, gzip.compress(CLOUD), server="cloudflare", content_encoding="gzip"),
         "cloudflare"),
        (reply(403, b"x" * 8_000 + CLOUD, server="cloudflare"), ""),
        (reply(403, CLOUD, server="nginx"), ""),
        (reply(200, CLOUD, server="cloudflare"), ""),
        (reply(403, x_dd_b="1", x_datadome="protected"), "datadome"),
        (reply(403, x_datadome="protected"), ""),
        (reply(404, INCAPSULA, x_iinfo="1"), "incapsula"),
        (reply(403, INCAPSULA, x_iinfo="1"), "incapsula"),
        (reply(404, INCAPSULA), ""),
        (reply(-2, server="AkamaiGHost"), ""),
        (reply(200, b"<p>a page about an Incapsula incident ID</p>"), ""),
    ],
)  # fmt: skip
def test_replies_of_blocking_services_are_annotated(visit: Visit, service: str) -> None:
    worked("BotBlockDetector", visit)
    assert visit.annotations == ([f"botblock:{service}"] if service else [])
