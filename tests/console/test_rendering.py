import re
from collections.abc import Iterator
from types import SimpleNamespace

import msgspec
import pytest
from msgspec.inspect import StructType, multi_type_info

from nacre.console.jobs.listing import JobItem, SpokenSentence
from nacre.console.rendering import FILTERS, NOTHING, TEMPLATES, environment
from nacre.console.routes import ROUTES
from nacre.report.log_fields import crawl_log_fields

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
    ("spoken", "deleted", "state"), [("en", "deleted", "Paused"), ("zh_CN", "已删除", "已暂停")]
)
def test_a_deleted_url_and_a_state_are_said_in_words(spoken: str, deleted: str, state: str):
    source = (
        '{% from "macros.html" import log_row, state %}'
        '{{ log_row(row, "job", true) }}{{ state(job) }}'
    )
    line = "2026-11-23T00:00:00.000Z -6000 - http://a.example/ L - - #001 - - - -"
    row = SimpleNamespace(offset=1, text=line, fields=crawl_log_fields(line))
    page = environment(spoken).from_string(source).render(row=row, job=listed("PAUSED"))
    assert f"-6000 {deleted}<" in page
    assert f">{state}<" in page


def listed(state: str, **params: int) -> JobItem:
    return JobItem("a~b", "b", "a", state, False, SpokenSentence("finished", {**params}, (), ""))


@pytest.mark.parametrize(
    ("state", "params", "kind"),
    [
        ("FINISHED", {"documents": 0, "got": 0, "seeds": 1, "failed": 1}, "bad"),
        ("FINISHED", {"documents": 0, "got": 0, "seeds": 2}, "bad"),
        ("FINISHED", {"documents": 0, "got": 1, "seeds": 2}, "done"),  # a seed is unchanged
        ("FINISHED", {"documents": 3, "got": 0, "seeds": 1}, "done"),
        ("FINISHED", {"documents": 0}, "done"),  # of a run whose seeds nobody counted
        ("FINISHED", {}, "done"),
        ("ABORTED", {"documents": 0, "got": 0, "seeds": 1}, "still"),
    ],
)
def test_a_finished_run_without_a_document_and_a_seed_is_no_success(
    state: str, params: dict[str, int], kind: str
):
    source = '{% from "macros.html" import state %}{{ state(job) }}'
    page = environment("en").from_string(source).render(job=listed(state, **params))
    assert f'class="state state-{kind}"' in page


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (0, "\N{EN DASH}"),
        ("", "\N{EN DASH}"),
        (None, "\N{EN DASH}"),
        (90.5, '<time datetime="1970-01-01T00:01:30Z">1970-01-01 00:01:30 UTC</time>'),
        (
            "2026-11-24T02:12:37.123Z",
            '<time datetime="2026-11-24T02:12:37.123Z">2026-11-24 02:12:37.123 UTC</time>',
        ),
        ('"><b>', "&#34;&gt;&lt;b&gt;"),
        ("\u202e2026", "\\u202e2026"),
        ("2026-11-24", "2026-11-24"),
    ],
)
def test_a_moment_is_an_element_that_names_it(moment: object, shown: str):
    template = environment("en").from_string(
        "{{ value | time }}|{% trans at=value|time %}As of {{ at }}{% endtrans %}"
    )
    assert template.render(value=moment) == f"{shown}|As of {shown}"


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Stopped by the operator"), ("zh_CN", "已由操作员停止")]
)
def test_a_run_that_the_operator_stopped_says_so(language: str, said: str):
    text = "{% from 'macros.html' import state %}{{ state(job) }}|{{ 'X' | state }}"
    page = environment(language).from_string(text).render(job=listed("ABORTED"))
    assert (f'state-still">{said}</span>' in page, page[-2:]) == (True, "|X")


def test_a_moment_to_come_is_shown_with_its_zone():
    template = environment("en").from_string("{{ value | due }}|{{ 0 | due }}")
    moment = '<time data-zone datetime="1970-01-01T00:01:30Z">1970-01-01 00:01:30 UTC</time>'
    assert template.render(value=90) == f"{moment}|\N{EN DASH}"


MOMENT = re.compile(r"^ +(\w+): .*(?:RFC 3339|[Ss]econds since the epoch)", re.MULTILINE)


def _moments() -> Iterator[str]:
    """The names of all fields of answers that are moments, as their docstrings say."""
    answers = {row.answer for row in ROUTES if row.answer is not None}
    found = list(multi_type_info(answers))
    seen = set[type[msgspec.Struct]]()
    while found:
        kind = found.pop()
        for part in ("item_type", "value_type", "types", "item_types"):
            inner = getattr(kind, part, ())
            found.extend(inner if isinstance(inner, tuple) else (inner,))
        if isinstance(kind, StructType) and kind.cls not in seen:
            seen.add(kind.cls)
            found.extend(field.type for field in kind.fields)
            yield from MOMENT.findall(kind.cls.__doc__ or "")


MOMENTS = {*_moments(), "ended", "ended_at", "since"}
"""Names of moments; the last ones are described by the field before them, or are of no answer."""
NO_MOMENTS = {
    "changes.html": {"since"},
    "access_macros.html": {"made"},
    "calendar.html": {"made"},
    "captures_macros.html": {"time"},
}
"""Such names that are none there: an id, and words of a button or label without elements."""
OUTPUT = re.compile(r"{{(.*?)}}|{% trans (.*?)%}", re.DOTALL)
BARE = re.compile(r"\b\w+\.(\w+)(?! *(?:\||\w|\.|\(|\[)) *(?=$|,|~| or | if )")


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_every_moment_is_shown_in_the_zone_of_the_viewer(path):
    assert {"as_of", "started", "made", "modified", "next_try"} <= MOMENTS
    outputs = ["".join(found) for found in OUTPUT.findall(path.read_text("utf-8"))]
    bare = {one for text in outputs for one in BARE.findall(text.strip())}
    assert bare & MOMENTS - NO_MOMENTS.get(path.name, set()) == set()


def test_moments_in_a_sentence_are_elements_too():
    template = environment("en").from_string("{{ text | times }}")
    said = template.render(text="<finished> 2026-11-24 02:52:20 UTC: \u202e5 documents")
    moment = '<time datetime="2026-11-24T02:52:20Z">2026-11-24 02:52:20 UTC</time>'
    assert said == f"&lt;finished&gt; {moment}: \\u202e5 documents"


def test_live_parts_which_all_viewers_share_have_no_token_of_a_session():
    parts = sorted((TEMPLATES / "live").glob("*.html"))
    assert parts
    assert [part.name for part in parts if "token" in part.read_text("utf-8")] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, NOTHING), (True, "true"), (False, "false"), ("很慢", "很慢"), (3, "3"), (2.5, "2.5"),
        (["a", None], '["a", null]'), ({"delay": 5.0, "名": True}, '{"delay": 5.0, "名": true}'),
    ],
)  # fmt: skip
def test_a_value_is_written_as_yaml_and_json_have_it(value: object, text: str):
    assert FILTERS["plain"](value) == text  # type: ignore[operator]  # a filter


@pytest.mark.parametrize(
    ("status", "word"),
    [(200, "got"), (304, "not modified"), (302, "redirect"), (404, "error"), (-2, "failed"),
     (-9998, "refused"), (-6000, "deleted"), (1, "got")],
)  # fmt: skip
def test_a_line_of_the_log_has_the_word_of_its_status(status: int, word: str):
    line = f"2026-11-28T23:28:29.834Z {status:5} 10 http://a.test/ - - text/html #000 - - - -"
    fields = crawl_log_fields(line)
    row = {"offset": 0, "fields": fields, "text": line}
    module = environment("en").get_template("macros.html").module
    assert f">{status} {word}<" in module.log_row(row, "a", columns=True)  # type: ignore[attr-defined]  # a macro


def test_names_between_backticks_are_code_and_hostile_text_stays_text():
    template = environment("en").from_string("{{ value | coded }}")
    shown = template.render(value="Waits `min_delay`, <b>`<i>`\u202e and `open")
    assert shown == (
        "Waits <code>min_delay</code>, &lt;b&gt;<code>&lt;i&gt;</code>\\u202e and `open"
    )
