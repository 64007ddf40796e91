"""Duplicates: of several pages with the same content one stays, the others are copies.

The table of signatures is an index: a row records that a page had a signature. Copies are the rows
that are strictly worse than the best row by the criteria; rows that are equal to it stay. Sources:
Nutch, `DeduplicationJob` (reference N 1.12); Charikar, "Similarity estimation techniques from
rounding algorithms", 2002; Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling",
2007.
"""

import re
import sys
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b, md5
from typing import TYPE_CHECKING, Literal, NamedTuple

from nacre.crawldb.hosts import host_sql
from nacre.crawldb.row import Status
from nacre.crawldb.settings import DedupCriterion

if TYPE_CHECKING:
    import pyarrow as pa

NEAR_BITS = 3
"""Most different bits of the simhashes of near-duplicates."""
BANDS = 4
"""Parts of a simhash: two that differ in at most three bits have an equal part."""
_BITS = 64 // BANDS
_SHINGLE = 4
_MOST_IN_BAND = 1_000
_MOST_WORDS = 20_000
"""Most words of a text for its simhash."""
_LANES = tuple(
    b"".join((byte >> bit & 1).to_bytes(4, "big") for bit in range(7, -1, -1))
    for byte in range(256)
)
"""The bits of a byte, each in 32 bits."""


class SignatureColumn(NamedTuple):
    """A column of the table of signatures: its name, its type in SQL, its meaning."""

    name: str
    type: str
    doc: str


SIGNATURE_COLUMNS = (
    SignatureColumn("signature", "BLOB", "Signature of the content."),
    SignatureColumn("key", "VARCHAR", "Key of the page."),
    SignatureColumn("live", "BOOLEAN", "The page had this signature at its last visit."),
    SignatureColumn("time", "BIGINT", "That visit, ms since the epoch."),
    SignatureColumn("simhash", "BIGINT", "Simhash of the text, of which the signature is a band."),
)
"""The columns in the order of their files; (signature, key) identifies a row."""


@cache
def signature_schema() -> "pa.Schema":
    """Return the schema of the table in Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    kinds = {
        "BLOB": pa.binary(),
        "VARCHAR": pa.string(),
        "BOOLEAN": pa.bool_(),
        "BIGINT": pa.int64(),
    }
    return pa.schema([pa.field(c.name, kinds[c.type]) for c in SIGNATURE_COLUMNS])


def signature_bucket(signature: bytes, buckets: int) -> int:
    """Return the bucket of a signature.

    Args:
        signature: The signature.
        buckets: Number of buckets, a power of two up to 2^32.
    """
    return int.from_bytes(md5(signature).digest()[:4], "big") >> (33 - buckets.bit_length())


def signature_bucket_sql(column: str, buckets: int) -> str:
    """Return SQL of the bucket of a signature; see `signature_bucket`."""
    shift = 33 - buckets.bit_length()
    return f"(('0x' || left(md5({column}), 8))::UBIGINT >> {shift})::INTEGER"


# ---- the same content

_DECODED = (
    "regexp_replace(regexp_replace(key, '%[89ABab][0-9A-Fa-f]', '', 'g'), "
    "'%[0-9A-Fa-f]{2}', '_', 'g')"
)
"""A URL with one character for each escaped character in UTF-8. Not `url_decode`, which raises an
error for escapes in another encoding, such as GBK."""
_ORDER: dict[DedupCriterion, str] = {
    "score": "-score",
    "fetchTime": "-time",
    "httpsOverHttp": "(key not like 'https://%')",
    # The decoded URL counts, as escaping is irrelevant.
    "urlLength": f"length({_DECODED})",
}
"""SQL whose least value is best."""

Group = Literal["none", "host", "domain"]


def duplicates_query(
    rows: str, order: Sequence[DedupCriterion], group: Group = "none", domains: str = ""
) -> str:
    """Return SQL of the rows whose `dup_of` changes: `signature`, `key`, `dup_of`.

    Args:
        rows: SQL after `from` for all pages with some signatures: `signature`, `key`, `live` (it
            still has it), `score`, `time`, `dup_of`.
        order: The criteria; the first difference decides.
        group: Only pages of the same host or registered domain are compared; `none`: all.
        domains: For `domain`: a table of `host` and `domain` by `hosts.load_domains`.
    """
    part, join = "0", ""
    if group == "host":
        part = host_sql("s.key")
    elif group == "domain":
        part = "g.domain"
        join = f" left join {domains} g on g.host = {host_sql('s.key')}"
    worth = ", ".join(_ORDER[c] for c in order)
    live = (
        f"select s.signature, s.key, s.dup_of as was, {part} as part, row({worth}) as worth "
        f"from {rows} s{join} where s.live"
    )
    # No windows: these keep all pages of a group in memory, and one group may have most pages.
    best = (
        "select signature, part, min({'worth': worth, 'key': key}) as best "
        f"from ({live}) group by all"
    )
    copies = (
        "select l.signature, l.key, l.was, "
        "case when l.worth is distinct from b.best.worth then b.best.key end as best "
        f"from ({live}) l join ({best}) b "
        "on b.signature = l.signature and b.part is not distinct from l.part"
    )
    # A page with another signature now is no copy by the old one.
    former = f"select signature, key, dup_of as was, null as best from {rows} where not live"
    return (
        f"select signature, key, best as dup_of from ({copies} union all {former}) "
        "where best is distinct from was"
    )


# ---- almost the same text

_WORD = re.compile(r"[^\W_]+")
_IDEOGRAPHS = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")


def simhash(text: str) -> int | None:
    """Return the 64-bit simhash of a text, by its shingles of four words, as a signed number.

    A Chinese, Japanese or Korean character counts as a word.

    Args:
        text: The text of a page.

    Returns:
        The number; None for a text of fewer words.
    """
    words = _WORD.findall(_IDEOGRAPHS.sub(r" \1 ", text).lower())
    if len(words) < _SHINGLE:
        return None
    words = words[:_MOST_WORDS]
    shingles = {" ".join(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}
    # A lane of 32 bits for each bit of a hash: one sum of long numbers counts all 64 at once.
    total = 0
    for shingle in shingles:
        digest = blake2b(shingle.encode(), digest_size=8).digest()
        total += int.from_bytes(b"".join([_LANES[byte] for byte in digest]), "big")
    counts = memoryview(total.to_bytes(256, sys.byteorder)).cast("I")
    bits = counts if sys.byteorder == "little" else counts[::-1]
    value = sum(1 << bit for bit, count in enumerate(bits) if 2 * count > len(shingles))
    return value - (1 << 64) if value >> 63 else value


def bands_sql(column: str) -> str:
    """Return SQL of the bands of a simhash as signatures: two near simhashes share a band.

    Args:
        column: The simhash.
    """
    mask = (1 << _BITS) - 1
    bands = (
        f"('near:{number}:' || ((({column} >> {number * _BITS}) & {mask})::VARCHAR))::BLOB"
        for number in range(BANDS)
    )
    return f"[{', '.join(bands)}]"


def near_sql(left: str, right: str, bits: int = NEAR_BITS) -> str:
    """Return SQL of whether two simhashes are near."""
    return f"bit_count(xor({left}, {right})) <= {bits}"


def near_duplicates_query(
    rows: str,
    order: Sequence[DedupCriterion],
    bits: int = NEAR_BITS,
    limit: int = _MOST_IN_BAND,
    group: str = "null",
) -> str:
    """Return SQL of pages whose text is almost that of a better page: `key`, `dup_of`.

    A page is a copy of the best page that is near to it, if that is no copy itself; so no chain of
    near pages becomes one group.

    Args:
        rows: SQL after `from` for pages that are no copies: `key`, `live`, `score`, `time`,
            `simhash` (null: it has none).
        order: The criteria.
        bits: Most different bits of simhashes, 0 to 3.
        limit: Most pages of a band to compare, the best first: templates without text share a band.
        group: SQL of a text of a row; only pages with the same text are compared.
    """
    criteria = ", ".join(_ORDER[criterion] for criterion in order)
    return (
        f"with ranked as (select key, simhash, {group} as part, "
        f"row_number() over (order by {criteria}, key) as n "
        f"from {rows} where live and simhash is not null), "
        f"spread as (select *, unnest({bands_sql('simhash')}) as band from ranked), "
        "banded as (select * from spread qualify row_number() over (partition by band order by n) "
        f"<= {limit}), "
        "pairs as (select distinct a.key, a.n, b.key as better, b.n as rank from banded a "
        "join banded b on a.band = b.band and b.n < a.n "
        f"where a.part is not distinct from b.part and {near_sql('a.simhash', 'b.simhash', bits)}"
        "), "
        # A better page that is near to a still better page is no original.
        "first as (select key, min(rank) as rank from pairs "
        "where better not in (select key from pairs) group by key) "
        "select f.key, p.better as dup_of from first f join pairs p on p.key = f.key "
        "and p.rank = f.rank order by f.key"
    )


# ---- what a page says itself


def canonical_query(claims: str, rows: str) -> str:
    """Return SQL of pages that declare another page as canonical: `key`, `dup_of`.

    The canonical page must be fetched, declare no other page, and be no copy, except of this page
    by its content.

    Args:
        claims: SQL after `from` for declarations of pages: `key`, `canonical` (a key), `signature`.
        rows: SQL after `from` for rows of the CrawlDb with the canonical pages, as readers see
            them: `key`, `status`, `signature`, `dup_of`.
    """
    existing = (
        f"(r.status in ({int(Status.FETCHED)}, {int(Status.NOT_MODIFIED)}) or "
        f"(r.status = {int(Status.DUPLICATE)} and r.dup_of = c.key and r.signature = c.signature))"
    )
    return (
        f"select c.key, c.canonical as dup_of from {claims} c join {rows} r on r.key = c.canonical "
        f"where c.canonical <> c.key and {existing} and not exists "
        f"(select 1 from {claims} o where o.key = c.canonical and o.canonical <> o.key) "
        "order by c.key"
    )
