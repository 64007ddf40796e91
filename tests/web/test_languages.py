# ruff: noqa: RUF001 - the signs of Chinese texts are meant
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.config.facts import facts_of, fields
from nacre.config.findings import typed
from nacre.core.states import CRASHED, ExitStatus, JobState
from nacre.editing.complete import complete
from nacre.editing.findings import find_in_text
from nacre.editing.hover import hover
from nacre.errors import ConfigError, Problem
from nacre.fleet.refusals import not_found
from nacre.job.diagnosis import Diagnosis
from nacre.messages import message
from nacre.settings.settings import JobSettings
from nacre.web.languages import (
    BEGIN,
    END,
    ENGLISH,
    PSEUDO,
    PseudoTexts,
    language,
    preferred,
    pseudo,
    spoken_card,
    spoken_completions,
    spoken_findings,
    spoken_problem,
)
from nacre.web.problems import ProblemDetails, problem_of
from tools.catalogues import main, template, updated
from tools.editor_texts import editor_texts, models
from tools.message_texts import declared_messages

_PLACES = re.compile(r"%\(\w+\)s|\{[a-z]\w*[^{}]*\}")


@pytest.mark.parametrize(
    ("field", "chosen", "name"),
    [
        ("", "", "en"),
        ("de, fr;q=0.5", "", "en"),
        ("zh", "", "zh_CN"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "", "zh_CN"),
        ("en;q=0.3, zh-Hans-CN;q=0.9", "", "zh_CN"),
        ("zh;q=0, en", "", "en"),
        ("zh;q=x", "", "en"),
        (",;=,", "", "en"),
        ("zh", "en", "en"),
        ("en", "zh_CN", "zh_CN"),
        ("zh", "tlh", "zh_CN"),
    ],
)
def test_the_language_is_that_of_the_browser_or_the_chosen_one(field: str, chosen: str, name: str):
    assert preferred(field, chosen) == name


def test_a_sentence_is_said_in_a_language():
    sentence = Diagnosis("slots-busy", {"parallel": 25, "hosts": 310})
    assert language("zh_CN").say(sentence).startswith("25 个抓取槽全部在用")
    assert language("zh_CN").tag == "zh-CN"
    english = language("../../etc")
    assert (english.name, english.say(Diagnosis("ready"))) == ("en", "ready to start")


def test_each_text_is_translated_and_the_files_are_up_to_date(capsys: pytest.CaptureFixture[str]):
    assert main(check=True) == 0, capsys.readouterr().out


def test_translations_have_the_same_places():
    templates = {declared.code: declared.template for declared in declared_messages()}
    for text in updated("zh_CN", template()):
        if text.id:
            ids = (text.id,) if isinstance(text.id, str) else text.id
            ids = tuple(templates.get(one, one) for one in ids)
            strings = (text.string,) if isinstance(text.string, str) else text.string or ()
            wanted = {place for one in ids for place in _PLACES.findall(one)}
            for string in strings:
                assert set(_PLACES.findall(string)) == wanted, text.id


def test_states_have_words_in_both_languages():
    english, chinese = language(ENGLISH), language("zh_CN")
    for name in (*JobState, *ExitStatus, CRASHED, "ROUNDS", "READING", "UNREADABLE"):
        assert english.state(name) != name
        assert english.state(name) != chinese.state(name)
        assert "_" not in english.state(name)
    assert english.state("NASCENT") == "Never ran"
    assert english.state("other") == "other"


# ---- the pseudo-locale


def test_a_text_is_longer_accented_and_between_marks():
    made = pseudo("All %(number)s jobs of {name}: `nacre run` <b>now</b>")
    assert made.startswith(BEGIN)
    assert made.endswith(END)
    for kept in ("%(number)s", "{name}", "`nacre run`", "<b>", "</b>"):
        assert kept in made
    assert "jobs" not in made


def test_only_texts_of_the_catalogue_are_changed():
    texts = PseudoTexts(["one", "job\0jobs"])
    assert texts.gettext("two") == "two"
    assert texts.gettext("one") == pseudo("one")
    assert [texts.ngettext("job", "jobs", n) for n in (1, 2)] == [pseudo("job"), pseudo("jobs")]


def test_who_asks_for_it_gets_it():
    assert preferred("en-XA") == PSEUDO
    assert BEGIN in language(PSEUDO).texts.gettext("Jobs")
    assert BEGIN in language(PSEUDO).text(message("a.b", "there is no job x"))


@given(st.text())
def test_no_text_is_too_odd(text: str):
    assert text.strip() == "" or pseudo(text).startswith(BEGIN)


# ---- texts of the core in Chinese

CHINESE = language("zh_CN")
HAN = re.compile("[\u4e00-\u9fff]")
_MARKS = re.compile(r"`[^`]*`")
PLAIN = frozenset(("KB/s", "B/s", "nacre set"))
"""Texts that are the same in both languages."""


def is_chinese(text: str) -> bool:
    return bool(HAN.search(text))


def test_each_meaning_and_unit_of_a_setting_is_said_in_chinese():
    texts = sorted({text for _, text in editor_texts()} - PLAIN)
    assert len(texts) > 400
    assert not [text for text in texts if not is_chinese(CHINESE.text(text))]


def test_each_type_of_a_setting_is_said_in_chinese():
    found = {typed(one) for one in fields(JobSettings)}
    for model in models():
        found |= {typed(facts_of(name, info)) for name, info in model.model_fields.items()}
    left = []
    for text in sorted(found):
        words = _MARKS.sub("", text).replace(" or ", "").strip(" ,")
        if words and words != "true false" and not is_chinese(CHINESE.text(text)):
            left.append(text)
    assert not left


BROKEN = """\
seeds: [http://127.0.0.1:9/]
politeness: {min_dealy: 3, delay: -1, respect_retry_after: [1]}
engine: {parallel: many, source_tags: 7}
robots: {policy: perhaps}
scope: [{rule: no-such}, {decision: ACCEPT}, 5]
sheets: {a.b: {politeness.delay: 5}, c: {engine.parallel: 3}}
fetch: {proxy: "ftp://x", accept_headers: [x], contact: nobody}
archive: {max_size: big}
"""


def test_the_findings_of_a_broken_text_are_said_in_chinese():
    for text in (BROKEN, "a: [1\n", "\tx: 1\n", "seeds: [\n"):
        found = find_in_text(text, None)
        assert found.problems
        said = spoken_findings(found, CHINESE)
        for one, known in zip(said.problems, found.problems, strict=True):
            assert is_chinese(one.message), one.message
            assert not one.expected or is_chinese(one.expected), one.expected
            assert (one.path, one.sample, one.line) == (known.path, known.sample, known.line)
            assert all(is_chinese(fix.label) for fix in one.fixes)
        assert spoken_findings(found, language("en")) == found


def test_hints_of_the_editor_are_said_in_chinese():
    text = "politeness:\n  delay: 5\n  m"
    card = spoken_card(hover(text, text.index("delay") + 1), CHINESE)
    assert (is_chinese(card.doc), is_chinese(card.type)) == (True, True)
    items = spoken_completions(complete(text, len(text)), CHINESE).items
    assert items
    for item in items:
        assert is_chinese(item.doc)
        assert is_chinese(item.detail), item.detail
    assert [item.label for item in items] == [one.label for one in complete(text, len(text)).items]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (not_found("job", "crawls~x"), "没有任务 crawls~x"),
        (ConfigError(message("config.must-be-at-least", "must be at least {ge}", ge=3)),
         "不得小于 3"),
        (ConfigError([Problem("a.b", message("config.must-be-number", "must be a number"),
                              message("type.none", "none"), "b: 1", "crawl.yaml", 3)]),
         "crawl.yaml:3: a.b: 必须是数\n    应为：无\n    例如：b: 1"),
    ],
)  # fmt: skip
def test_a_refusal_is_said_in_chinese(error: ConfigError, said: str):
    problem = spoken_problem(problem_of(error), CHINESE)
    assert problem.detail == said
    assert spoken_problem(problem_of(error), language("en")) == problem_of(error)


def test_the_code_of_a_refusal_is_in_its_details():
    text = message("config.must-be-at-least", "must be at least {ge}", ge=3)
    details = problem_of(ConfigError([Problem("a.b", text)]))
    assert details.problems[0]["message_code"] == "config.must-be-at-least"
    assert details.problems[0]["params"] == {"ge": 3}
    assert details.message_code == "problem.place"
    assert problem_of(ConfigError("plain")).message_code == ""


def test_what_is_not_known_stays_as_it_is():
    problem = ProblemDetails("Odd", 400, "odd", "<b>nothing that Nacre said</b>", ({"x": 1},))
    assert spoken_problem(problem, CHINESE) == problem
