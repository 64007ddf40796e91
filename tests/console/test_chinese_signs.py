"""Signs between Chinese texts are those of Chinese."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from nacre.console.rendering import environment
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play

HAN: Final = "[\u4e00-\u9fff]"
NARROW: Final = re.compile(rf"{HAN} ?[,;:!?()](?!/)|[,;:!?(] ?{HAN}|{HAN}\.(?:\s|$)|\) ?{HAN}")
AS_THEY_ARE: Final = frozenset(("code", "pre", "time", "script", "style"))
SPOKEN: Final = frozenset(("aria-label", "title", "placeholder"))
ALONE: Final = frozenset(("input", "br", "meta", "link", "wbr", "hr"))


class ShownTexts(HTMLParser):
    """The texts of a page that people read or hear, without code and moments."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._within: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in SPOKEN and value]
        if tag not in ALONE:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._within and self._within.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not AS_THEY_ARE.intersection(self._within):
            self.found.append(" ".join(data.split()))


@pytest.mark.parametrize(
    "path",
    [
        "/", "/new", "/calendar", "/webhooks", "/account", "/clips",
        "/admin", "/admin/keys", "/admin/places", "/admin/quotas", "/admin/audit", "/admin/about",
        "/j/crawls~demo", "/j/crawls~demo/seeds", "/j/crawls~demo/seeds/list",
        "/j/crawls~demo/settings", "/j/crawls~demo/settings/form",
        "/j/crawls~demo/settings/form?section=fetch", "/j/crawls~demo/settings/form?section=cycle",
        "/j/crawls~demo/settings/sheets", "/j/crawls~demo/settings/urls",
        "/j/crawls~demo/frontier", "/j/crawls~demo/runs",
    ],
)  # fmt: skip
@pytest.mark.slow
def test_a_form_has_the_signs_of_chinese(tmp_path: Path, path: str):
    assert nacre("new", tmp_path / "crawls" / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.ADMIN) | {"accept-language": "zh-CN"}
        page = await console.client.get(path, headers=fields)
        assert page.status_code == 200, page.text
        # A name of the file format in a sentence stays as it is written.
        texts = [re.sub(r"`[^`]*`", "", one) for one in ShownTexts(page.text).found]
        assert [one for one in texts if NARROW.search(one)] == []

    play(tmp_path, scene)


def test_signs_between_texts_are_those_of_the_language():
    text = "{{ 1 }}{{ colon }}{{ 2 }}{{ comma }}{{ 3 | bracketed }}{{ semicolon }}{{ 4 }}{{ stop }}"
    text += "{{ open_bracket }}{{ '\u202e' | bracketed }}{{ close_bracket }}"
    said = {name: environment(name).from_string(text).render() for name in ("en", "zh_CN")}
    assert said["en"] == "1: 2,  (3); 4.  ( (\\u202e))"
    assert said["zh_CN"] == "1：2，（3）；4。（（\\u202e））"  # noqa: RUF001 - they are wide
