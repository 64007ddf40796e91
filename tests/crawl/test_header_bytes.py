"""URLs in headers are requested with the bytes that the server wrote, whatever their encoding."""

from pathlib import Path

import pytest

from tests.crawl.jobs import crawl
from tests.crawl.raw_site import raw_site, redirect, reply

pytestmark = pytest.mark.crawl

TARGETS = {
    "/gbk": (redirect("Location: /list.asp?cat=中文".encode("gbk")), "/list.asp?cat=%D6%D0%CE%C4"),
    "/latin1": (redirect(b"Location: /caf\xe9.html"), "/caf%E9.html"),
    "/sjis": (redirect("Location: /図書.html".encode("cp932")), "/%90%7D%8F%91.html"),
    "/utf8": (redirect("Location: /é x.html".encode()), "/%C3%A9%20x.html"),
    "/mixed": (redirect("Location: /é/".encode() + b"y?q=\xd6\xd0"), "/%C3%A9/y?q=%D6%D0"),
    "/second": (redirect(b"Location:", b"LOCATION: ", b"Location: /2\xd6"), "/2%D6"),
    "/refresh": (reply("", "text/html", b"Refresh: 0; url=/r?\xd6\xd0"), "/r?%D6%D0"),
    "/link": (reply("", "text/html", b"Link: </l?\xd6\xd0>; rel=next"), "/l?%D6%D0"),
    "/place": (reply("", "text/html", b"Content-Location: /c\xd6\xd0"), "/c%D6%D0"),
    # The encoding of the page says nothing of its headers.
    "/page": (
        reply("中", "text/html; charset=gbk", "Link: </é?é>; rel=next".encode()), "/%C3%A9?%C3%A9",
    ),
}  # fmt: skip


def test_the_bytes_are_requested_as_they_are(tmp_path: Path):
    with raw_site() as site:
        site.serve({path: answer for path, (answer, _) in TARGETS.items()}, links=list(TARGETS))
        site.serve({target: reply("<p>x") for _, target in TARGETS.values()})
        site.serve({"/robots.txt": redirect("Location: /规则.txt".encode("gbk"))})
        site.serve({"/%B9%E6%D4%F2.txt": reply("User-agent: *\nDisallow: /no", "text/plain")})
        done = crawl(tmp_path / "job", [site.origin + "/", site.origin + "/no"])
    targets = {target for _, target in TARGETS.values()}
    assert targets - set(site.asked) == set()
    assert done.statuses[site.origin + "/no"] == -9998
    assert {done.statuses[site.origin + target] for target in targets} == {200}
    assert [url for url, status in done.statuses.items() if status == 404] == [
        f"{site.origin}/favicon.ico"
    ]
