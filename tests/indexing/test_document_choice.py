"""Documents are parted by the condition of a writer."""

import pytest

from nacre.crawldb.kernels import UserSqlError
from nacre.indexing.document_choice import DocumentChoice
from nacre.search.document import SearchDocument

ZH = SearchDocument(id="a", host="library.example", lang="zh", title="国家图书馆", length=9)
EN = SearchDocument(id="b", host="www.example.org", anchor=["home"], more={"kind": ["news", "x"]})
ODD = SearchDocument(id="c", title="\udcff", lang="12", more={"\udcff": ["\udcff"]})


def chosen(condition: str) -> str:
    with DocumentChoice(condition, "solr") as choice:
        wanted, others = choice.parted([ZH, EN, ODD])
    assert sorted([*(one.id for one in wanted), *others]) == ["a", "b", "c"]
    return "".join(one.id for one in wanted)


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("", "abc"),
        ("host = 'library.example'", "a"),
        ("title like '%图书%' or list_contains(site, 'example.org')", "ab"),
        ("more['kind'][1] = 'news'", "b"),
        ("anchor[1] = 'home'", "b"),
        ("lang::int > 3", "c"),
        ("lang is null", "b"),
        ("length", "a"),
        ("true -- of all", "abc"),
    ],
)
def test_a_document_is_given_where_the_condition_is_true(condition, ids):
    assert chosen(condition) == ids


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("hots = 'x'", "hots"),
        ("host = ", "syntax"),
        ("(select 1)", "query"),
        ("tstamp > epoch_ms(now())", "now"),
        ("length > (select count(*) from read_csv('/etc/passwd'))", "query"),
    ],
)
def test_what_is_no_condition_names_the_writer(condition, said):
    with pytest.raises(UserSqlError, match=f"(?s)when` of the writer `solr`.*{said}"):
        DocumentChoice(condition, "solr")


def test_no_document_is_no_question():
    with DocumentChoice("host = 'x'", "solr") as choice:
        assert choice.parted([]) == ([], [])
