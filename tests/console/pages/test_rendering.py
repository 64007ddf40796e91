import re

import pytest

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
