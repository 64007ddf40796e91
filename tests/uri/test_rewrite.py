import pytest

from nacre.errors import ConfigError
from nacre.uri.rewrite import Regex


@pytest.mark.parametrize(
    ("expression", "template", "url", "after"),
    [
        ("(.*)", "$1", "http://a/", "http://a/"),
        (r"(http://)m\.(.*)", "${1}www.$2", "http://m.a.b/c", "http://www.a.b/c"),
        (r"http://a/(x)?(y)?", "$1-$2", "http://a/y", "-y"),
        (r"http://a/(x)", r"\$1\\", "http://a/x", "$1\\"),
        (r"http://a/", "z", "http://a/b", "http://a/b"),
        (r"(.*)\?(.)\2", "$1", "http://a/?xx", "http://a/"),
        (r"(.*)(?=/)/", "$1", "http://a/", "http://a"),
    ],
)
def test_rewriting(expression, template, url, after):
    assert Regex(expression, template).apply(url) == after


@pytest.mark.parametrize(
    ("expression", "template"), [("(", ""), ("a", "$1"), ("(a)", "$2"), (r"(a)\1", "${2}")]
)
def test_what_cannot_work_is_refused_at_once(expression, template):
    with pytest.raises(ConfigError):
        Regex(expression, template)


def test_an_expression_that_never_ends_counts_as_no_match():
    url = "http://a/" + "x" * 60 + "!"
    assert Regex(r"http://a/((x|x)+)+\2y", "$1").apply(url) == url


def test_equal_settings_are_equal_rules():
    assert Regex("(.*)a", "$1") == Regex("(.*)a", "$1")
    assert Regex("(.*)a", "$1") != Regex("(.*)b", "$1")
    assert hash(Regex("(.*)a", "$1")) == hash(Regex("(.*)a", "$1"))
