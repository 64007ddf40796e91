import pytest

from nacre.errors import ConfigError
from nacre.fleet.places import check_name, dated_name, with_tail

NEW_YEAR = 1_798_736_400.0
"""2026-12-31T17:00:00Z, which is 2027 in Shanghai."""


def test_a_name_has_the_date_of_its_zone():
    assert dated_name("新闻-%Y-%m-%d %H.%M", "job", NEW_YEAR) == "新闻-2026-12-31 17.00"
    assert dated_name("%Y%m%d", "job", NEW_YEAR, "Asia/Shanghai") == "20270101"
    assert dated_name("week-%G-%V-%j", "job", NEW_YEAR) == "week-2026-53-365"
    assert dated_name("", "图书馆", NEW_YEAR) == "图书馆-2026-12-31"
    assert len(dated_name("", "x" * 300, NEW_YEAR)) == 100


@pytest.mark.parametrize("pattern", ["%", "%s", "%-d", "a/%Y", "../%Y", "%%", ".%Y", "%Y\n"])
def test_a_pattern_that_makes_no_name_is_refused(pattern: str):
    with pytest.raises(ConfigError):
        dated_name(pattern, "job", NEW_YEAR)


def test_names_that_are_none():
    for name in ("a/b", "中" * 86, "x" * 101):
        with pytest.raises(ConfigError, match="is no name of a job"):
            check_name(name)
    assert check_name("中" * 85) == "中" * 85


def test_a_name_is_no_longer_than_that_of_a_directory_in_bytes():
    found = dated_name("", "中" * 85, NEW_YEAR)
    assert found == "中" * 80 + "-2026-12-31"
    assert len(with_tail(found, "-999").encode()) == 255
    with pytest.raises(ConfigError, match="is no name of a job"):
        dated_name("中" * 90 + "%Y", "job", NEW_YEAR)
    assert with_tail("中" * 85, "-12") == "中" * 84 + "-12"
    assert with_tail("新闻", "-2") == "新闻-2"
