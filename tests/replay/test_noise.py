"""Noise in URLs: what does not count, and what does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.replay.noise import without_noise, without_static_query


@pytest.mark.parametrize(
    ("key", "plain"),
    [
        ("test,h)/a", "test,h)/a"),
        ("test,h)/a?_=123", "test,h)/a"),
        ("test,h)/a?_=123&b=1", "test,h)/a?b=1"),
        ("test,h)/a?_=abc", "test,h)/a?_=abc"),
        ("test,h)/a?rnd=0.123456", "test,h)/a"),
        ("test,h)/a?rand=.5e-7", "test,h)/a"),
        ("test,h)/a?utm_source=x&utm_id=9&x=1", "test,h)/a?x=1"),
        ("test,h)/a?fbclid=IwAR0_abc", "test,h)/a"),
        ("test,h)/a?t=1638000000000", "test,h)/a"),
        ("test,h)/a?t=1638000000", "test,h)/a"),
        ("test,h)/a?t=90", "test,h)/a?t=90"),
        ("test,h)/a?v=3", "test,h)/a?v=3"),
        ("test,h)/a?callback=jquery3310123_1638000&_=1638", "test,h)/a?callback=jquery"),
        ("test,h)/a?foocallbackname=jquery123_456", "test,h)/a?foocallbackname=jquery"),
        ("test,h)/a?x=jquery123_456", "test,h)/a?x=jquery"),
        ("test,h)/a?callback=jsonp1638", "test,h)/a?callback=jsonp"),
        ("test,h)/a?callback=angular.callbacks._0", "test,h)/a?callback=angular.callbacks._0"),
        ("test,h)/a?foocallback=jquer123x_456", "test,h)/a?foocallback=jquer123x"),
        ("test,h)/a?callback=show", "test,h)/a?callback=show"),
        ("test,h)/a?", "test,h)/a"),
        ("test,h)/a?b", "test,h)/a?b"),
        ("test,h)/a?__user=1&__dyn=x&b=1", "test,h)/a?b=1"),
        (
            "test,h)/a?__wb_method=post&__eventtarget=x&_=1",
            "test,h)/a?__wb_method=post&__eventtarget=x",
        ),
        ("test,h)/a?名=1", "test,h)/a?名=1"),
    ],
)
def test_without_noise(key, plain):
    assert without_noise(key) == plain


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("test,h)/a.css?v=3", "test,h)/a.css"),
        ("test,h)/a.css", "test,h)/a.css"),
        ("test,h)/a.php?v=3", ""),
        ("test,h)/a.html?page=3", ""),
        ("test,h)/js?v=3", ""),
        ("test,h)/", ""),
        ("css", ""),
    ],
)
def test_files(key, path):
    assert without_static_query(key) == path


@given(st.text(max_size=60))
def test_noise_is_removed_once(text):
    once = without_noise(text)
    assert without_noise(once) == once
    assert len(once) <= len(text.lower()) + 1
