import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.normalize.query import Ajax, CleanQuery, Querystring


@pytest.mark.parametrize(
    ("normalizer", "url", "scope", "normal"),
    [
        (Querystring(), "http://u@h:1/?c=d&a=b&a=a&#r", "default", "http://u@h:1/?a=a&a=b&c=d#r"),
        (Querystring(), "http://h/#x?b&a", "default", "http://h/#x?b&a"),
        (CleanQuery(), "http://h/?&b=&=1&a=1#r", "default", "http://h/?a=1&b#r"),
        (CleanQuery(), "http://h/?&", "default", "http://h/"),
        (CleanQuery(), "http://h/?b=1&a=2&a=1&a", "default", "http://h/?a=2&a=1&a&b=1"),
        (Ajax(), "http://h/#!k=v&x=é y", "default", "http://h/?_escaped_fragment_=k=v%26x=%C3%A9%20y"),
        (Ajax(), "http://h/?a#!k", "default", "http://h/?a&_escaped_fragment_=k"),
        (Ajax(), "http://h/#r", "default", "http://h/#r"),
        (Ajax(), "http://h/?a&_escaped_fragment_=k%26l", "indexer", "http://h/?a#!k&l"),
        (Ajax(), "http://h/#!k", "indexer", "http://h/#!k"),
    ],
)  # fmt: skip
def test_queries(normalizer, url, scope, normal):
    assert normalizer.normalize(url, scope) == normal


@given(st.text(max_size=20))
def test_fragments_come_back(fragment):
    there = Ajax().normalize(f"http://h/#!{fragment}", "default")
    assert there.isascii()
    assert Ajax().normalize(there, "indexer") == f"http://h/#!{fragment}"
