"""Every page in the pseudo-locale: each text that people read comes out of the catalogue."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import pytest

from nacre.config.facts import choices_of, fields, type_at
from nacre.console.routes import ROUTES, AnyRow
from nacre.editing.clips import list_clips
from nacre.editing.places import processors, rules
from nacre.settings.layers import list_profiles
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import STOCK as STOCK_SHEETS
from tests.cli.site import many_pages, nacre, site
from tests.console.given import GivenConsole, play
from tests.console.marked_text import unmarked

PSEUDO: Final = {"accept-language": "en-XA"}
SAMPLES: Final = {"number": "1", "profile": "site", "clip": "mediawiki", "report": "hosts"}
NAMES: Final = frozenset(
    (
        "Nacre", "Heritrix", "Nutch", "Prometheus", "WARC", "CDXJ", "CDX", "JSON", "CSV", "HTML",
        "YAML", "URL", "URLs", "URI", "URIs", "SURT", "HTTP", "HTTPS", "DNS", "SQL", "UTC", "SHA",
        "robots", "txt", "log", "yaml", "nacre", "crawls", "over", "new", "anna", "admin", "Not",
        "Found", "True", "False", "true", "false", "text", "json", "csv", "html", "ACCEPT",
        "REJECT", "crawl", "alerts", "job", "OpenAPI",
    )
)  # fmt: skip
"""Words that no language has of its own, and those of the jobs here."""


def names() -> frozenset[str]:
    """These words, and the names of settings, of their values, of rules and of processors."""
    found = {*NAMES, *STOCK_SHEETS}
    found |= {one.name for one in list_profiles()} | {one.name for one in list_clips()}
    for facts in fields(JobSettings):
        parts = facts.path.split(".")
        found |= {*parts, *choices_of(type_at(JobSettings, parts, None))}
    return frozenset(found | {one.name for one in (*rules(), *processors(None))})


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder of jobs: one that is over, and one that never ran; and the URL of their site."""
    folder = tmp_path_factory.mktemp("texts")
    with site(many_pages(6)) as url:
        over = folder / "crawls" / "over"
        allowed = ("--allow-net", "127.0.0.0/8", "--delay", "0")
        assert nacre("crawl", url, "--out", over, "-q", *allowed).code == 0
        assert nacre("new", folder / "crawls" / "new", url).code == 0
        yield folder, url


def pages() -> list[tuple[AnyRow, str]]:
    """The rows that are pages, each with a job that there is; "" for none."""
    rows = [
        row for row in ROUTES
        if row.verb == "GET" and not row.is_api and row.answer is None
        and ".pages." in row.handler.__module__
    ]  # fmt: skip
    return [
        (row, job) for row in rows for job in (("over", "new") if "{job}" in row.path else ("",))
    ]


def path_of(row: AnyRow, job: str, url: str) -> str:
    """The path and query of a page."""
    values = {**SAMPLES, "job": f"crawls~{job}"}
    path = re.sub(r"{(\w+)(?::\w+)?}", lambda found: quote(values[found[1]]), row.path)
    asks = row.query is not None and "u" in row.query.__struct_fields__
    return f"{path}?{urlencode({'u': url})}" if asks and "{report}" not in row.path else path


def test_each_text_of_each_page_is_translated(jobs: tuple[Path, str]):
    folder, url = jobs
    left: dict[str, list[str]] = {}
    known = names()

    async def scene(console: GivenConsole) -> None:
        fields = {**console.as_session(), **PSEUDO}
        for given in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(given)
        for row, job in pages():
            path = path_of(row, job, url)
            answer = await console.client.get(path, headers=fields)
            assert answer.status_code < 500, path
            found = unmarked(answer.text, known)
            if found:
                left[path] = found

    play(folder, scene)
    assert not left, "\n".join(f"{path}\n    " + "\n    ".join(left[path]) for path in left)


@pytest.mark.parametrize(
    ("page", "left"),
    [
        ("<p>\u27e6\u00c5ll\u27e7 12 URL</p><code>engine</code><time>then</time>", []),
        ("<p>\u27e6a \u27e6b\u27e7 c\u27e7</p><br><a class=url href=x>http://x.test/</a>", []),
        ("<p>All jobs</p>", ["All jobs"]),
        ("<button title='Press it'>\u27e6x\u27e7 now</button>", ["Press it", "\u27e6x\u27e7 now"]),
        ("<select><option lang=zh-CN>zh name</option></select><b>end</b>", ["end"]),
    ],
)
def test_what_has_no_mark_is_found(page: str, left: list[str]):
    assert unmarked(page, NAMES) == left
