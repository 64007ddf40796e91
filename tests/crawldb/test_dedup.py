"""Duplicates: Nutch's criteria against a short oracle, near-duplicates, canonical pages."""

import random
from decimal import Decimal
from itertools import product
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pytest

from nacre.crawldb.dedup import (
    canonical_query,
    duplicates_query,
    near_duplicates_query,
    signature_bucket,
    signature_bucket_sql,
    signature_schema,
    simhash,
)
from nacre.crawldb.hosts import load_domains
from nacre.crawldb.kernels import Kernel
from nacre.crawldb.settings import DedupCriterion
from tests.crawldb.made import read

ORDER: tuple[DedupCriterion, ...] = ("score", "fetchTime", "urlLength")
PAGES = pa.schema(
    [
        *signature_schema(),
        ("score", pa.decimal128(38, 0)),
        ("dup_of", pa.string()),
    ]
)
PAGE = {"signature": b"s", "live": True, "score": Decimal(1), "time": 1}


@pytest.fixture
def kernel():
    with Kernel(again=True) as made:
        yield made


def copies(kernel, pages, order=ORDER, group="none", domains=""):
    rows = [{**PAGE, **page} for page in pages]
    kernel.load("pages", pa.Table.from_pylist(rows, PAGES))
    found = kernel.rows(
        f"select key, dup_of from ({duplicates_query('pages', order, group, domains)}) order by key"
    )
    return dict(found)


@pytest.mark.parametrize(
    ("pages", "order", "losers"),
    [
        ([("http://a.test/1", 2, 1), ("http://a.test/2", 1, 9)], ORDER, {"http://a.test/2"}),
        ([("http://a.test/1", 1, 1), ("http://a.test/2", 1, 9)], ORDER, {"http://a.test/1"}),
        ([("http://a.test/long", 1, 1), ("http://a.test/", 1, 1)], ORDER, {"http://a.test/long"}),
        ([("http://a.test/1", 1, 1), ("http://a.test/2", 1, 1)], ORDER, set()),
        (
            [("http://a.test/", 1, 1), ("https://a.test/", 1, 1)],
            ("httpsOverHttp", "urlLength"),
            {"http://a.test/"},
        ),
        (
            [("http://a.test/%E5%9B%BD", 1, 1), ("http://a.test/ab", 1, 1)],
            ("urlLength",),
            {"http://a.test/ab"},
        ),
    ],
)
def test_the_first_criterion_that_decides_counts(kernel, pages, order, losers):
    rows = [{"key": key, "score": Decimal(score), "time": time} for key, score, time in pages]
    found = copies(kernel, rows, order)
    assert set(found) == losers
    assert set(found.values()) <= {key for key, _, _ in pages} - losers


def oracle(pages, order):
    """Losers of all pairs, as Nutch compares them."""

    def better(one, other):
        for criterion in order:
            a, b = (
                {
                    "score": page["score"],
                    "fetchTime": page["time"],
                    "httpsOverHttp": page["key"].startswith("https"),
                    "urlLength": -len(unquote(page["key"])),
                }[criterion]
                for page in (one, other)
            )
            if a != b:
                return a > b
        return False

    return {page["key"] for page in pages if any(better(other, page) for other in pages)}


@pytest.mark.parametrize("seed", range(6))
def test_losers_are_those_of_all_pairs(kernel, seed):
    dice = random.Random(seed)
    names = [f"{scheme}://a.test/{'x' * count}{tail}" for scheme, count, tail in
             product(("http", "https"), range(4), ("1", "%CA%E9", "%E4%B9%A6"))]  # fmt: skip
    order = tuple(dice.sample(["score", "fetchTime", "httpsOverHttp", "urlLength"], 3))
    # One and the same character in GBK and UTF-8; escapes that are no UTF-8 count one by one.
    pages: list[dict[str, Any]] = [
        {"key": name, "score": Decimal(dice.randrange(2)), "time": dice.randrange(2)}
        for name in dice.sample(names, 9)
    ]
    assert set(copies(kernel, pages, order)) == oracle(pages, order)


def test_groups_of_hosts_and_domains_are_apart(kernel):
    pages = [{"key": f"http://{host}/", "score": Decimal(score)} for score, host in
             enumerate(("www.a.test", "b.a.test", "c.test", "c.test/x"))]  # fmt: skip
    hosts = ["www.a.test", "b.a.test", "c.test"]
    load_domains(kernel, "domains", hosts)
    assert len(copies(kernel, pages)) == 3
    assert set(copies(kernel, pages, group="host")) == {"http://c.test/"}
    by_domain = copies(kernel, pages, group="domain", domains="domains")
    assert set(by_domain) == {"http://c.test/", "http://www.a.test/"}


def test_only_what_changes_is_said_and_pages_that_changed_are_released(kernel):
    pages = [
        {"key": "http://a.test/", "score": Decimal(9)},
        {"key": "http://a.test/1", "dup_of": "http://a.test/"},
        {"key": "http://a.test/2", "dup_of": "http://a.test/", "live": False},
        {"key": "http://a.test/3", "dup_of": "http://a.test/gone"},
    ]
    assert copies(kernel, pages) == {"http://a.test/2": None, "http://a.test/3": "http://a.test/"}
    alone = [{"key": "http://a.test/1", "dup_of": "http://a.test/"}]
    assert copies(kernel, alone) == {"http://a.test/1": None}


def test_many_equal_pages_are_one_group_in_little_memory(tmp_path):
    with Kernel(100_000_000, scratch=str(tmp_path)) as kernel:
        kernel.execute(
            "create temp table pages as select 's'::BLOB as signature, "
            "'http://a.test/' || i as key, true as live, i::DECIMAL(38,0) as score, "
            "1::BIGINT as time, 5::BIGINT as simhash, "
            "null::VARCHAR as dup_of from range(300_000) t(i)"
        )
        query = duplicates_query("pages", ORDER)
        found = kernel.rows(f"select count(*), min(dup_of), max(dup_of) from ({query})")
        few = kernel.rows(f"select count(*) from ({near_duplicates_query('pages', ORDER)})")
    assert found == [(299_999, "http://a.test/299999", "http://a.test/299999")]
    assert few == [(999,)]


def test_signatures_are_spread_evenly_and_alike_in_sql(kernel):
    found = [signature_bucket(bytes([number % 256, number // 256]), 16) for number in range(1600)]
    assert min(found.count(bucket) for bucket in range(16)) > 50
    for signature in (b"x", bytes(16), b"\xff\x00'"):
        for buckets in (1, 64, 4096):
            query = f"select {signature_bucket_sql('s', buckets)} from (select ?::BLOB as s)"
            assert kernel.value(query, [signature]) == signature_bucket(signature, buckets)


# ---- almost the same

WORDS = "the archive keeps every page that it has seen and tells when and where it was"
TEXT = " ".join(f"{word}{number}" for number, word in enumerate(WORDS.split() * 30))
CHINESE = "国家图书馆收藏了自建国以来出版的全部图书和期刊并且保存网页档案" * 9


def bits(a: int | None, b: int | None) -> int:
    assert a is not None
    assert b is not None
    return ((a ^ b) & (2**64 - 1)).bit_count()


def test_texts_that_are_almost_equal_have_almost_the_same_simhash():
    assert simhash(TEXT) == simhash(TEXT.upper().replace(" ", ",\n"))
    assert bits(simhash(TEXT), simhash(TEXT + " one more word here")) <= 3
    assert bits(simhash(TEXT), simhash(CHINESE)) > 15
    assert bits(simhash(CHINESE), simhash(CHINESE + "今天")) < 12
    assert -(2**63) <= (simhash(TEXT) or 0) < 2**63
    assert simhash("too short a") is None


def near(kernel, hashes, **options):
    rows = [
        {**PAGE, "key": f"http://a.test/{number}", "score": Decimal(-number), "simhash": value}
        for number, value in enumerate(hashes)
    ]
    kernel.load("pages", pa.Table.from_pylist(rows, PAGES))
    found = read(kernel, near_duplicates_query("pages", ORDER, **options))
    return {row["key"][-1]: row["dup_of"][-1] for row in found}


def test_pages_that_differ_in_three_bits_are_copies_of_the_best(kernel):
    start = 0x0123456789ABCDEF
    three = start ^ (1 << 3) ^ (1 << 20) ^ (1 << 40)
    four = start ^ (1 << 3) ^ (1 << 20) ^ (1 << 40) ^ (1 << 60)
    assert near(kernel, [start, three, four, ~start]) == {"1": "0"}
    assert near(kernel, [start, three], bits=2) == {}
    assert near(kernel, [start, None, start]) == {"2": "0"}


def test_a_chain_of_pages_is_not_one_group(kernel):
    chain = [0b0, 0b111, 0b111111]
    assert near(kernel, chain) == {"1": "0"}


def test_a_template_without_text_is_compared_with_few(kernel):
    assert len(near(kernel, [5] * 9, limit=3)) == 2


# ---- canonical pages


def test_pages_that_name_a_known_page_are_copies_of_it(kernel):
    kernel.execute(
        "create temp table rows as select key, status, 's'::BLOB as signature, dup_of from "
        "(values ('http://a.test/', 2::UTINYINT, null), ('http://a.test/gone', 3, null), "
        "('http://a.test/b', 6, null), ('http://a.test/5', 7, 'http://a.test/?5'), "
        "('http://a.test/6', 7, 'http://a.test/?5'), ('http://a.test/7', 7, 'http://a.test/?7')) "
        "t(key, status, dup_of)"
    )
    claims = [
        ("http://a.test/?5", "http://a.test/5"),
        ("http://a.test/?6", "http://a.test/6"),
        ("http://a.test/?7", "http://a.test/7"),
        ("http://a.test/?1", "http://a.test/"),
        ("http://a.test/?2", "http://a.test/gone"),
        ("http://a.test/?3", "http://a.test/unknown"),
        ("http://a.test/", "http://a.test/"),
        ("http://a.test/b", "http://a.test/"),
        ("http://a.test/?4", "http://a.test/b"),
    ]
    names = pa.schema(
        [("key", pa.string()), ("canonical", pa.string()), ("signature", pa.binary())]
    )
    said = [
        {"key": key, "canonical": canonical, "signature": b"other" if "7" in key else b"s"}
        for key, canonical in claims
    ]
    kernel.load("claims", pa.Table.from_pylist(said, names))
    found = read(kernel, canonical_query("claims", "rows"))
    assert {row["key"]: row["dup_of"] for row in found} == {
        "http://a.test/?1": "http://a.test/",
        "http://a.test/?5": "http://a.test/5",
        "http://a.test/b": "http://a.test/",
    }
