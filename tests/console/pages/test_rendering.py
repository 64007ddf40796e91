import re
from types import SimpleNamespace

import pytest

from nacre.console.logs.lines import crawl_log_fields
from nacre.console.pages.rendering import TEMPLATES, environment

UNSAFE = re.compile(
    r"\|\s*(safe|forceescape)\b|\bMarkup\b|autoescape|<script(?![^>]*\bsrc=)|\son\w+\s*=|\sstyle\s*="
    r"|javascript:|https?://(?!example\.org)"
)


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_no_template_marks_a_text_as_safe_or_has_a_script_of_its_own(path):
    assert UNSAFE.findall(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>", "&lt;b&gt;"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("a\x1b[2J", "a\\x1b[2J"),
        ("图书馆 & é", "图书馆 &amp; é"),
        (3, "3"),
    ],
)
def test_what_is_shown_is_text(text: object, shown: str):
    template = environment("en").from_string("{{ value }}|{{ value ~ '' }}")
    assert template.render(value=text) == f"{shown}|{shown}"


@pytest.mark.parametrize(
    ("spoken", "deleted", "state"), [("en", "deleted", "PAUSED"), ("zh_CN", "已删除", "已暂停")]
)
def test_a_deleted_url_and_a_state_are_said_in_words(spoken: str, deleted: str, state: str):
    source = (
        '{% from "macros.html" import log_row, state %}'
        '{{ log_row(row, "job", true) }}{{ state("PAUSED", false) }}'
    )
    line = "2026-11-23T00:00:00.000Z -6000 - http://a.example/ L - - #001 - - - -"
    row = SimpleNamespace(offset=1, text=line, fields=crawl_log_fields(line))
    page = environment(spoken).from_string(source).render(row=row)
    assert f"-6000 {deleted}<" in page
    assert f">{state}<" in page
