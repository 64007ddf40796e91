"""Replies whose media type says nothing, or is wrong, are read as browsers read them."""

from pathlib import Path

import pytest

from tests.crawl.jobs import crawl
from tests.crawl.raw_site import raw_site, redirect, reply

pytestmark = pytest.mark.crawl

STARTS = {
    "p": "<p>x</p>", "head": "<head><title>t</title>", "table": "\n<table><tr><td>", "h1": "<H1>",
    "script": "<script>1</script>", "comment": "<!-- c -->", "body": "<body>",
}  # fmt: skip
TYPES = {"none": None, "unknown": "unknown/unknown", "application": "application/unknown",
         "any": "*/*"}  # fmt: skip


def test_links_are_found_whatever_the_type(tmp_path: Path):
    pages = {
        f"/{start}-{mime}": reply(f"{text}<a href=/hit/{start}-{mime}>x</a>", TYPES[mime])
        for start, text in STARTS.items()
        for mime in TYPES
    }
    loaded = {
        "/html.php": reply("var u='/hit/script-html.html'", "text/html"),
        "/bare.php": reply("var u='/hit/script-bare.html'", None),
        "/module.php": reply("import '/hit/module.js'", "*/*"),
        "/css": reply("@import '/imported'; a{background:url(/hit/css.png)}", None),
        "/imported": reply("a{background:url(/hit/imported.png)}", None),
        "/quirks": reply("a{background:url(/hit/quirks.png)}", "text/html"),
        "/moved": redirect(b"Location: /moved2"),
        "/moved2": redirect(b"Location: /moved3"),
        "/moved3": reply("var u='/hit/moved.html'", None),
        "/error": reply("<!doctype html><a href=/hit/error>x</a>", "text/html"),
    }
    home = (
        "".join(f"<a href={path}>x</a>" for path in pages)
        + "<script src=/html.php></script><script src=/bare.php></script>"
        + "<link rel=modulepreload href=/module.php><link rel=stylesheet href=/css>"
        + "<link rel=stylesheet href=/quirks><script src=/error></script>"
        + "<script src=/moved></script>"
    )
    with raw_site() as site:
        site.serve(pages | loaded | {"/": reply(home)})
        crawl(tmp_path / "job", [site.origin + "/"], extract={"try_all_guesses": True})
    expected = {f"/hit{path}" for path in pages} | {
        *("/hit/script-html.html", "/hit/script-bare.html", "/hit/module.js", "/hit/css.png"),
        *("/hit/imported.png", "/hit/quirks.png", "/hit/error", "/hit/moved.html"),
    }
    assert expected - set(site.asked) == set()
