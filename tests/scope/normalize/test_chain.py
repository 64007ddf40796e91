import pytest
from pydantic import TypeAdapter

from nacre.errors import ConfigError, URIError
from nacre.scope.normalize.chain import AnyNormalizer, NormalizerChain, NormalizeScope

LIST = TypeAdapter(list[AnyNormalizer])
HALVES = """<regex-normalize><regex>
<pattern>aa</pattern><substitution>a</substitution>
</regex></regex-normalize>"""


def chain(items, scope="outlink", files=None, **options):
    def read_lines(name):
        if name not in (files or {}):
            raise FileNotFoundError(2, "No such file", name)
        return files[name]

    return NormalizerChain(
        LIST.validate_python(items), NormalizeScope(scope), read_lines, **options
    )


def test_in_the_order_of_the_list():
    made = chain(["basic", "querystring", "pass"])
    assert made.normalize("HTTP://h?b&a#r") == "http://h/?a&b"
    assert made
    assert not chain([])


@pytest.mark.parametrize(
    ("setting", "url", "normal"),
    [
        ({"idn": "ascii"}, "http://straße.test/", "http://strasse.test/"),
        ({"idn": "ascii", "idna2008": True}, "http://straße.test/", "http://xn--strae-oqa.test/"),
        ({"trim_trailing_dot": True}, "http://a.test./", "http://a.test/"),
        ({"default_scheme": "http"}, "a.test/x", "http://a.test/x"),
    ],
)
def test_each_setting_of_basic_has_its_effect(setting, url, normal):
    assert chain([{"normalizer": "basic", **setting}]).normalize(url) == normal


def test_only_those_of_the_scope():
    items = [{"normalizer": "ajax", "scopes": ["inject", "indexer"]}]
    assert chain(items, "inject").normalize("http://h/#!a") == "http://h/?_escaped_fragment_=a"
    assert chain(items, "outlink").normalize("http://h/#!a") == "http://h/#!a"


def test_files_are_read_by_others():
    items = [{"normalizer": "host", "file": "h.txt"}, {"normalizer": "regex", "rules": HALVES}]
    made = chain(items, files={"h.txt": ["h i"]})
    assert made.normalize("http://h/aaaa") == "http://i/aa"
    assert len(made.regexes) == 1


def test_loops_end_when_nothing_changes():
    items = [{"normalizer": "regex", "rules": HALVES}]
    assert chain(items, loops=2).normalize("http://h/aaaa") == "http://h/a"
    assert chain(items, loops=99).normalize("http://h/" + "a" * 64) == "http://h/a"


def test_what_has_no_form_is_an_error():
    with pytest.raises(URIError):
        chain(["basic"]).normalize("no url")
    with pytest.raises(URIError, match="nothing is left"):
        chain(["pass"]).normalize("")


def test_all_problems_of_all_files():
    items = [
        {"normalizer": "host", "file": "absent.txt"},
        {"normalizer": "slash", "file": "gone.txt"},
        {"normalizer": "regex", "rules": "<x/>"},
    ]
    with pytest.raises(ConfigError) as caught:
        chain(items)
    assert [problem.file for problem in caught.value.problems] == [
        "absent.txt",
        "gone.txt",
        "rules",
    ]
    assert "No such file" in caught.value.problems[0].message
