"""Rows: Nutch's codes, groups of columns, schemas of Arrow, buckets."""

import pytest

from nacre.crawldb import row
from nacre.crawldb.row import (
    ADD_COLUMNS,
    COLUMNS,
    GROUP_NAMES,
    FoldRule,
    Status,
    bucket_of,
    bucket_of_host,
    group_columns,
    status_of,
)


def test_codes_and_names_are_those_of_nutch():
    assert [(int(one), one.label) for one in Status] == [
        (1, "db_unfetched"),
        (2, "db_fetched"),
        (3, "db_gone"),
        (4, "db_redir_temp"),
        (5, "db_redir_perm"),
        (6, "db_notmodified"),
        (7, "db_duplicate"),
        (8, "db_orphan"),
        (9, "db_parse_failed"),
    ]
    assert status_of("gone") is status_of("db_gone") is status_of("3") is Status.GONE
    with pytest.raises(ValueError, match="one of: db_unfetched"):
        status_of("lost")


def test_every_column_is_set_by_a_group_or_added():
    of_groups = [column for group in GROUP_NAMES for column in group_columns(group)]
    assert {*of_groups, *ADD_COLUMNS} == set(COLUMNS)
    assert not {*of_groups} & {*ADD_COLUMNS}
    assert all(column.rule is FoldRule.SET for column in of_groups)
    with pytest.raises(ValueError, match="no group 'colour'; one of: state"):
        group_columns("colour")


def test_schemas_are_those_of_the_columns():
    assert row.SCHEMA.names == [column.name for column in COLUMNS]
    assert row.GROUPS["lease"].names == ["key", "leased", "leased_until"]
    assert row.ADD_SCHEMA.field("score").type.scale == 0
    assert not row.SCHEMA.field("key").nullable
    with pytest.raises(AttributeError, match="COLOURS"):
        row.COLOURS  # noqa: B018


def test_a_domain_lies_in_one_bucket():
    urls = ["http://a.example.co.uk/", "https://b.example.co.uk:8443/x?y", "http://example.co.uk/"]
    assert len({bucket_of(url, 4096) for url in urls}) == 1
    assert bucket_of(urls[0], 1) == 0


def test_twice_as_many_buckets_split_each_in_two():
    for name in ("example.org", "127.0.0.1", "xn--fiqs8s.cn", "localhost"):
        assert bucket_of_host(name, 64) == bucket_of_host(name, 128) // 2
        assert 0 <= bucket_of_host(name, 2**32) < 2**32


def test_buckets_are_even():
    found = [bucket_of_host(f"host{number}.org", 16) for number in range(1600)]
    assert {found.count(bucket) > 50 for bucket in range(16)} == {True}
