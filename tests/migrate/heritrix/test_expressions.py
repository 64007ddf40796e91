"""Expressions of Spring: what is worked out, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre_migrate.heritrix.expressions import translated

ENVIRON = {"SITE": "图书馆", "EMPTY": ""}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("#{systemEnvironment['GONE'] ?: 'bot'}/1", "bot/1"),
        ("#{systemEnvironment['SITE'] ?: 'x'}", "图书馆"),
        ("#{systemEnvironment.SITE}", "图书馆"),
        ('#{ systemEnvironment["EMPTY"] ?: "本地" }-#{\'b\'}', "本地-b"),
        ("#{systemProperties['user.site'] ?: systemEnvironment['SITE']}", "图书馆"),
        ("#{systemEnvironment['GONE'] ?: -1}", "-1"),
        ("#{systemEnvironment['GONE'] ?: 524288L}", "524288"),
        ("#{systemEnvironment['GONE'] ?: false}", "false"),
        ("#{systemEnvironment['GONE'] == null ? 'a' : 'b'}", "a"),
        ("#{systemEnvironment['SITE'] != 'x' ? ('a' + 'b') : 'c'}", "ab"),
        ("#{!true ? 1 : 2}", "2"),
        ("#{null}", ""),
        ("#{'it''s'}", "it's"),
        ("#{systemEnvironment['SITE'] ?: T(java.lang.Math).random()}", "图书馆"),
    ],
)
def test_the_simple_kinds(text, value):
    done = translated(text, ENVIRON)
    assert (done.text, done.problem) == (value, "")


@pytest.mark.parametrize(
    "text",
    [
        "#{T(java.lang.Runtime).exec('x')}",
        "#{metadata.jobName}",
        "#{systemEnvironment['GONE']}",
        "#{systemEnvironment['GONE'] ?: localhost}",
        "#{systemEnvironment['GONE'] + 'a'}",
        "#{1 + 1}",
        "#{2 > 1}",
        "#{systemEnvironment['GONE'] ?: 'a'",
        "#{",
        "#{" + "(" * 200,
        "#{" + "!" * 5000 + "true}",
        "#{systemEnvironment[SITE].length()}",
    ],
)
def test_the_rest_is_refused_and_left_as_it_is(text):
    done = translated(text, ENVIRON)
    assert done.text == text
    assert done.problem


def test_what_values_depend_on_is_told():
    text = "#{systemEnvironment['GONE'] ?: 'x'}#{systemEnvironment['SITE']}"
    assert translated(text, ENVIRON).notes == (
        "the environment has no GONE: x holds",
        "SITE of the environment, as it is now",
    )


def test_a_variable_may_wait_for_the_start_of_the_crawl():
    done = translated("/data/#{systemEnvironment['GONE']}/w", ENVIRON, later=True)
    assert done.text == "/data/${env:GONE}/w"
    assert translated("#{systemProperties['x']}", ENVIRON, later=True).problem


@given(st.text(alphabet="#{}'\"?:+!()[].= aA1\\", max_size=60))
def test_any_text_is_answered(text):
    done = translated(text, ENVIRON)
    assert done.problem or "#{" not in text or done.text is not None
    assert not done.problem or done.text == text
