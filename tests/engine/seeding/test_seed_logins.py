"""The login of a seed is separated from its URL."""

import pytest

from nacre.scope.seeds import BadSeed, Seed, parse_seed, read_seeds

WORD = "p%40ss wörd-通知"
SPOKEN = "p@ss wörd-通知"
TYPED = "p%40ss%20w%C3%B6rd-%E9%80%9A%E7%9F%A5"
FORMS = [WORD.encode(), SPOKEN.encode(), TYPED.encode(), b"wbvDtnJk"]


@pytest.mark.parametrize(
    ("text", "url", "login"),
    [
        ("http://me:pw@a.test/x", "http://a.test/x", ("http://a.test", "me", "pw")),
        ("me:pw@a.test:81", "https://a.test:81/", ("https://a.test:81", "me", "pw")),
        ("https://token@a.test/", "https://a.test/", ("https://a.test", "token", "")),
        ("https://:pw@a.test/", "https://a.test/", ("https://a.test", "", "pw")),
        ("http://me:a@b@[::1]:8/", "http://[::1]:8/", ("http://[::1]:8", "me", "a@b")),
        (f"http://读者:{TYPED}@a.test/", "http://a.test/", ("http://a.test", "读者", SPOKEN)),
    ],
)
def test_what_a_seed_is_without_its_login(text: str, url: str, login: tuple[str, str, str]):
    seed = parse_seed(text)
    assert (seed.url, seed.login) == (url, login)
    assert "@" not in seed.text
    assert "@" not in seed.fallback
    assert "pw" not in repr(seed)


@pytest.mark.parametrize(
    "text",
    [
        "http://me:geheim@a b/",
        "http://me:ge/heim@a.test/",
        "me:geheim@[::1",
        f"http://me:geheim@a.test/{'x' * 3000}",
        "http://m%3Ae:geheim@a.test/",
        f"http://{'m' * 90}:geheim@a b/",
    ],
)
def test_a_line_that_is_no_seed_is_told_without_its_password(text: str):
    (found,) = read_seeds([text])
    assert isinstance(found, BadSeed)
    assert "heim" not in found.text + found.reason


def test_directives_lose_theirs_and_surts_stay():
    (one, two) = read_seeds(["+http://me:pw@a.test/x/", "+http://(test,a,:80@me)/x"])
    assert [one[0], two[0]] == ["+http://a.test/x/", "+http://(test,a,:80@me)/x"]
    assert not any(isinstance(each, Seed) for each in (one, two))
