"""The links of a part: a row for each link, and sums by target, computed column by column.

Most links of a site repeat on its pages. So each link is parsed once (`LinkBook`), pages have
numbers of links, and Arrow gathers the columns of files by these numbers.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from nacre.core.crawluri import Hop, extend_path
from nacre.crawldb import facts as schemas
from nacre.crawldb.scoring import (
    LinkShare,
    PageScore,
    ScoreChange,
    Scoring,
    distribute,
    distribute_alike,
)
from nacre.rounds.visits.page_links import LinkFact, LinksByNumber, PageLinks
from nacre.rounds.visits.unit_visits import VisitFact

if TYPE_CHECKING:
    import pyarrow as pa

_ANCHOR = 100
_NO_METADATA: Mapping[str, str] = {}
_REDIRECT = Hop.REDIRECT.value
_DEEPEST = 65_535
_LOWER = 2**32 - 1
_FEW = 8
_SUMMED = 2**63
"""Below this a sum of scores has 64 bits."""
_CHUNK = 1_000_000
"""Rows that are gathered at a time: a column of text has at most 2 GB."""
_FEW_TEXTS = 1_000_000
"""Bytes of distinct texts up to which a column is a dictionary; files allow 1 MiB."""

KeyOf = Callable[[str], tuple[str, int, str]]
"""Key, bucket and host of a URL."""


class LinkBook:
    """The parsed links of a part, and their targets.

    Args:
        key_of: Returns key, bucket and host of a URL.

    Attributes:
        facts: The links by their places.
        targets: Number of the target of each link.
        ways: Number of the way of each link: the host of its target, and its hop.
        hosts: Host and hop of each way.
        keys: Keys of the targets.
        buckets: Their buckets.
    """

    def __init__(self, key_of: KeyOf) -> None:
        self._key_of = key_of
        self._numbers: dict[str, int] = {}
        self._ways: dict[tuple[str, str], int] = {}
        self._reader = LinksByNumber(self._add)
        self.facts: list[LinkFact] = []
        self.targets: list[int] = []
        self.ways: list[int] = []
        self.hosts: list[tuple[str, str]] = []
        self.keys: list[str] = []
        self.buckets: list[int] = []

    def places(self, page: PageLinks) -> "array[int]":
        """Return the place of each link of a row; rows come in their order."""
        return self._reader.places(page)

    def first_of_each(self, places: "array[int]") -> "array[int]":
        """Return the first link to each target, by places, in the same order."""
        target_of = self.targets.__getitem__
        if len(set(map(target_of, places))) == len(places):
            return places
        first: dict[int, int] = {}
        for target, place in zip(map(target_of, places), places, strict=True):
            first.setdefault(target, place)
        return array("i", first.values())

    def target(self, key: str, bucket: int) -> int:
        """Return the number of a URL as a target, by its key and bucket."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.keys)
            self.keys.append(key)
            self.buckets.append(bucket)
        return number

    def _add(self, links: Sequence[LinkFact]) -> None:
        for link in links:
            key, bucket, name = self._key_of(link[0])
            self.facts.append(link)
            self.targets.append(self.target(key, bucket))
            way = name, link[1]
            number = self._ways.get(way)
            if number is None:
                number = self._ways[way] = len(self.hosts)
                self.hosts.append(way)
            self.ways.append(number)


class LinkRows:
    """The rows of the file of links.

    Args:
        book: The links.
    """

    def __init__(self, book: LinkBook) -> None:
        self._book = book
        self._places, self._ranks, self._ends = array("i"), array("i"), array("i")
        self._of_pages: list[tuple[int, int, int]] = []

    def add(
        self, src: int, places: "array[int]", ranks: "array[int]", depth: int, time: int
    ) -> None:
        """Add the links of a page.

        Args:
            src: Number of the page as a target.
            places: Places of its links in the book.
            ranks: Places of its links on the page.
            depth: Depth of the page.
            time: When it was fetched, ms since the epoch.
        """
        if places:
            self._places += places
            self._ranks += ranks
            self._ends.append(len(self._places))
            self._of_pages.append((src, depth, time))

    def table(self) -> "pa.Table":
        """Return the rows, sorted by bucket and target; links to one target in their order."""
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.compute as pc  # noqa: PLC0415

        book, schema = self._book, schemas.LINKS
        if not self._places:
            return schema.empty_table()
        targets, link = _Targets(book), _Links(book)
        places, ends, ranks = map(_int32, (self._places, self._ends, self._ranks))
        numbers = pa.array(range(len(ends)), pa.int32())
        pages = pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, numbers))
        src, depth, time = (
            pa.array(column, kind)
            for column, kind in zip(
                zip(*self._of_pages, strict=True), (pa.int32(), pa.int32(), pa.int64()), strict=True
            )
        )
        order = pc.sort_indices(targets.order.take(link.target.take(places)))
        tables = []
        for start in range(0, len(order), _CHUNK):
            rows = order.slice(start, _CHUNK)
            place, page = places.take(rows), pages.take(rows)
            dst = link.target.take(place)
            # Nutch's redirects keep the depth of their page, too.
            deeper = pc.add(depth.take(page), link.further.take(place))
            columns = {
                "bucket": targets.bucket.take(dst),
                "dst": _dictionary_column(targets.key, dst),
                "src": _dictionary_column(targets.key, src.take(page)),
                "hop": link.hop.take(place),
                "rel": link.rel.take(place),
                "context": link.context.take(place),
                "anchor": _dictionary_column(link.texts, link.anchor.take(place)),
                "rank": ranks.take(rows),
                "depth": deeper.cast(pa.int16()),
                "time": time.take(page),
            }
            tables.append(pa.table({name: columns[name] for name in schema.names}))
        return pa.concat_tables(tables)


_Kind = tuple[
    int, str, str, str, int, int, int | None, int | None, int, Mapping[str, str]
]  # fmt: skip
"""Common data of some links of a page, or of a change of a page's own scores: the time of the
fetch, ms since the epoch; the page (for an own change the page that it was found on); hop path and
seed of the target; its change of score and cash; its depth, the time again and 1 (None, None and 0
for no link); metadata. The first entry wins if time and page are equal. A tuple for speed: a page
has several.
"""


class TargetSums:
    """Sums the links of pages by target; each target of a page counts once.

    Args:
        book: The links.
        scoring: The kinds of score, in order.
    """

    def __init__(self, book: LinkBook, scoring: Sequence[Scoring]) -> None:
        self._book = book
        self._scoring = scoring
        self._alike = all(kind_of_score.alike for kind_of_score in scoring)
        self._kinds: list[_Kind] = []
        self._entry_kinds, self._urls = array("i"), array("i")
        # Target, kind, URL, and the number of link entries that precede it.
        self._own: list[tuple[int, int, str, int]] = []
        self._stood_for: dict[int, int] = {}

    def link(
        self, fact: VisitFact, name: str, page: PageScore, depth: int, first: "array[int]"
    ) -> ScoreChange:
        """Distribute the scores of a page to its targets.

        Args:
            fact: The visit of the page.
            name: Its host.
            page: Its scores.
            depth: Its depth.
            first: Places of its links in the book, only the first link to each target.

        Returns:
            The changes of the page itself, and of the virtual page.
        """
        book = self._book
        ways = list(map(book.ways.__getitem__, first))
        counts = _count_ways(ways)
        inside = {way for way in counts if book.hosts[way][0] == name}
        if self._alike:
            number = sum([counts[way] for way in inside])
            alike, change = distribute_alike(
                self._scoring, page, number, len(ways) - number, fact.outlinks
            )
            if alike is None:
                return change
            kinds_by_look: dict[tuple[bool, str], int] = {}
            of_way = {}
            for way in counts:
                kind_key = way in inside, book.hosts[way][1]
                kind = kinds_by_look.get(kind_key)
                if kind is None:
                    kind = kinds_by_look[kind_key] = self._kind(
                        fact, depth, kind_key[1], alike[not kind_key[0]]
                    )
                of_way[way] = kind
            if len(kinds_by_look) == 1:
                kinds = array("i", kinds_by_look.values()) * len(ways)
            else:
                kinds = array("i", list(map(of_way.__getitem__, ways)))
        else:
            internal = [way in inside for way in ways]
            shares, change = distribute(self._scoring, page, internal, fact.outlinks)
            if not shares:
                return change
            kinds = array(
                "i",
                [
                    self._kind(fact, depth, book.hosts[way][1], s)
                    for way, s in zip(ways, shares, strict=True)
                ],
            )
        self._entry_kinds += kinds
        self._urls += first
        return change

    def _kind(self, fact: VisitFact, depth: int, hop: str, share: LinkShare) -> int:
        number, time = len(self._kinds), fact.began // 1000
        path = extend_path(fact.path, hop)
        deeper = min(depth + (hop != _REDIRECT), _DEEPEST)
        self._kinds.append(
            (
                time, fact.url, path, fact.source, share.score, share.cash,
                deeper, time, 1, share.md,
            )
        )  # fmt: skip
        return number

    def give(self, target: int, fact: VisitFact, change: ScoreChange, url: str = "") -> None:
        """Change the scores of a visited URL itself; that is no link to it.

        Args:
            target: Number of the URL.
            fact: Its visit.
            change: The change of its scores.
            url: The URL to store, before that of a later link; "" for that of the visit.
        """
        number = len(self._kinds)
        self._kinds.append(
            (
                fact.began // 1000, fact.via, fact.path, fact.source,
                change.score, change.cash, None, None, 0, _NO_METADATA,
            )
        )  # fmt: skip
        if url:
            self._stood_for[target] = number
        self._own.append((target, number, url or fact.url, len(self._urls)))

    def table(self, rules: int) -> "pa.Table":
        """Return the rows of the file of additions, sorted by bucket and key.

        Args:
            rules: Hash of the rules that judged the links; 0: unknown.
        """
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.compute as pc  # noqa: PLC0415

        book, schema = self._book, schemas.ADDS
        if not self._kinds:
            return schema.empty_table()
        of_links = pa.array(book.targets, pa.int32()).take(_int32(self._urls))
        number = len(self._entry_kinds) + len(self._own)
        kinds = _kinds_table(self._kinds, self._never_first(of_links), number)
        # After the entries of links follow the pages' own changes.
        of_kind = _int32(self._entry_kinds + array("i", [number for _, number, _, _ in self._own]))
        own = pa.array([target for target, _, _, _ in self._own], pa.int32())
        entries = pa.concat_arrays([of_links, own])
        targets = _Targets(book)
        sums = _sum_by_target(kinds, of_kind, entries)
        sums = sums.take(pc.sort_indices(targets.order.take(sums["target"])))
        target, entry = sums["target"], sums["entry"]
        kind = of_kind.take(entry)
        key, url = targets.key.take(target), self._urls_of(entry, kind, target)
        linked, hash_of_rules = pc.greater(sums["links"], 0), pa.scalar(rules or None, pa.int64())
        columns = {
            "bucket": targets.bucket.take(target),
            "key": key,
            "url": pc.if_else(pc.equal(url, key), None, url),
            **{name: kinds[name].take(kind) for name in ("via", "path", "source", "md")},
            "judged": pc.if_else(linked, hash_of_rules, None),
            **{name: sums[name] for name in ("score", "cash", "depth")},
            "inlinks": sums["links"],
            "first_seen": kinds["time"].take(kind),
            "last_inlink": sums["last"],
        }
        for name in ("via", "source"):
            columns[name] = pc.if_else(pc.equal(columns[name], ""), None, columns[name])
        return pa.table(
            [columns[column.name].cast(column.type) for column in schema], schema=schema
        )

    def _never_first(self, of_links: "pa.Array") -> list[int]:
        """Return the kinds of pages that were linked or visited before: these cannot be first.

        Args:
            of_links: Number of the target of each entry of a link.
        """
        import numpy as np  # noqa: PLC0415 - an extra

        number = len(of_links)
        first = np.full(len(self._book.keys), number)
        # The last assignment wins, which is that of the first entry.
        first[of_links.to_numpy()[::-1]] = np.arange(number)[::-1]
        numbers, visited = [], set()
        for target, kind, _, before in self._own:
            if target in visited or first[target] < before:
                numbers.append(kind)
            visited.add(target)
        return numbers

    def _urls_of(self, entry: "pa.Array", kind: "pa.Array", target: "pa.Array") -> "pa.Array":
        """Return the URLs of targets by the winning entries."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        links, urls = len(self._urls), self._urls
        facts, own = self._book.facts, self._own
        result = [
            facts[urls[place]][0] if place < links else own[place - links][2]
            for place in entry.to_pylist()
        ]
        if self._stood_for:
            rows = zip(kind.to_pylist(), target.to_pylist(), strict=True)
            for place, (won, number) in enumerate(rows):
                if won < self._stood_for.get(number, 0):
                    result[place] = self._book.keys[number]
        return pa.array(result, pa.string())


def _count_ways(ways: list[int]) -> Mapping[int, int]:
    """Return the number of links of each way, in order of the first; most pages have few ways."""
    if ways and ways.count(ways[0]) == len(ways):
        return {ways[0]: len(ways)}
    distinct = dict.fromkeys(ways)
    return {way: ways.count(way) for way in distinct} if len(distinct) < _FEW else Counter(ways)


def _sum_by_target(kinds: "pa.Table", of_kind: "pa.Array", target: "pa.Array") -> "pa.Table":
    """Return the sums by target, and the entry whose kind is the first.

    Args:
        kinds: The kinds.
        of_kind: Number of the kind of each entry.
        target: Number of the target of each entry.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.compute as pc  # noqa: PLC0415

    by_time = pc.sort_indices(kinds, [("time", "ascending"), ("via", "ascending")])
    place = pc.if_else(kinds["counts"], pc.sort_indices(by_time).cast(pa.int64()), None)
    # The least place wins; the lower half of the number is the entry.
    places = pc.shift_left(place.take(of_kind), 32)
    first = pc.add(places, pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), len(target))))
    how = {"score": "sum", "cash": "sum", "links": "sum", "depth": "min", "last": "max"}
    columns = {name: kinds[name].take(of_kind) for name in how}
    rows = pa.table({"target": target, **columns, "entry": first})
    sums = rows.group_by("target", use_threads=False).aggregate([*how.items(), ("entry", "min")])
    sums = sums.select(["target", *(f"{name}_{way}" for name, way in how.items()), "entry_min"])
    sums = sums.rename_columns(["target", *how, "entry"])
    entry = pc.subtract(pc.bit_wise_and(sums["entry"], _LOWER), 1)  # entries count from 1
    return sums.set_column(sums.num_columns - 1, "entry", entry).combine_chunks()


def _kinds_table(kinds: Sequence[_Kind], never_first: Sequence[int], entries: int) -> "pa.Table":
    """Return the kinds as columns; `counts`: whether a kind may be the first of a target.

    Args:
        kinds: The kinds.
        never_first: Numbers of kinds that cannot be first.
        entries: Number of entries, which bounds sums.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    types = {
        "time": pa.int64(), "via": pa.string(), "path": pa.string(), "source": pa.string(),
        "score": pa.decimal128(38, 0), "cash": pa.decimal128(38, 0), "depth": pa.int32(),
        "last": pa.int64(), "links": pa.int64(), "md": pa.map_(pa.string(), pa.string()),
    }  # fmt: skip
    columns = dict(zip(types, zip(*kinds, strict=True), strict=True))
    for name in ("score", "cash"):
        # Integers of 64 bits are much faster than decimals.
        values = columns[name]
        if max(values) * entries < _SUMMED and min(values) * entries > -_SUMMED:
            types[name] = pa.int64()
    metadata = columns["md"]
    columns["md"] = tuple([list(md.items()) or None for md in metadata] if any(metadata) else ())
    counts = [True] * len(kinds)
    for number in never_first:
        counts[number] = False
    arrays = {
        name: pa.array(columns[name], kind) if columns[name] else pa.nulls(len(kinds), kind)
        for name, kind in types.items()
    }
    return pa.table({**arrays, "counts": pa.array(counts, pa.bool_())})


class _Targets:
    """The targets of a book as columns; `order` is the rank of each by bucket and key."""

    def __init__(self, book: LinkBook) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.compute as pc  # noqa: PLC0415

        self.key = pa.array(book.keys, pa.string())
        self.bucket = pa.array(book.buckets, pa.int32())
        columns = pa.table({"bucket": self.bucket, "key": self.key})
        sorted_by = pc.sort_indices(columns, [("bucket", "ascending"), ("key", "ascending")])
        self.order = pc.sort_indices(sorted_by)


class _Links:
    """The links of a book as columns; `further`: additional depth of a target over its page.

    `anchor` has the places of their texts in `texts`.
    """

    def __init__(self, book: LinkBook) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        few = pa.dictionary(pa.int32(), pa.string())
        _, hops, rels, contexts, texts = zip(*book.facts, strict=True)
        self.target = pa.array(book.targets, pa.int32())
        self.hop, self.rel, self.context = (pa.array(t, few) for t in (hops, rels, contexts))
        anchor = pa.array([text[:_ANCHOR] for text in texts], pa.string()).dictionary_encode()
        self.anchor, self.texts = anchor.indices, anchor.dictionary
        self.further = pa.array([int(hop != _REDIRECT) for hop in hops], pa.int32())


def _dictionary_column(texts: "pa.Array", places: "pa.Array") -> "pa.Array":
    """Return a column of texts by their places in an array of distinct texts.

    Few distinct texts stay a dictionary, so that the file is written without reading each text.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if texts.nbytes > _FEW_TEXTS:
        return texts.take(places)
    return pa.DictionaryArray.from_arrays(places, texts)


def _int32(numbers: "array[int]") -> "pa.Array":
    import pyarrow as pa  # noqa: PLC0415 - an extra

    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])
