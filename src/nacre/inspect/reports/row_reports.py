"""The reports with a row for each seed, host, source, media type and status.

Source: Heritrix 3. The rows with the most URIs come first.
"""

from collections.abc import Iterator
from heapq import merge
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from nacre.core.status import describe
from nacre.inspect.reports.base import ReportColumn, RowReport
from nacre.inspect.reports.disk_sort import sort_rows
from nacre.inspect.reports.source import Data, ReportSource, SeedFacts
from nacre.report.document import Format
from nacre.report.escape import safe
from nacre.report.statistics import Tally, rows, source_codes

_COUNT, _BYTES, _URL = Format.COUNT, Format.BYTES, Format.URL


def _most_first(source: ReportSource, entries: Iterator[Data], name: str) -> Iterator[Data]:
    return sort_rows(entries, dict[str, Any], lambda r: (-r["urls"], r[name]), source.scratch)


def _values(row: Data) -> str:
    """The row's values in its own order, each one word."""
    return " ".join(safe(str(value)) for value in row.values())


class SeedsReport(RowReport):
    """Each seed with its result: those never tried first, then failures, then replies."""

    name = "seeds"
    summary = "each seed, its status, and where it redirects"
    file = "seeds-report.txt"
    header = "[code] [status] [seed] [redirect]"
    title = "Seeds"
    caption = "Seeds, those without a reply first"
    columns: tuple[ReportColumn, ...] = (
        ReportColumn("seed", "seed", _URL),
        ReportColumn("result", "result"),
        ReportColumn("code", "status"),
        ReportColumn("redirect", "redirects to", _URL),
        ReportColumn("next_try", "next try (UTC)", Format.TIME),
    )

    def rows(self, source: ReportSource) -> Iterator[Data]:
        """See `RowReport.rows`."""
        for seed in sort_rows(source.seeds(), SeedFacts, _seed_order, source.scratch):
            yield {
                "code": seed.status,
                "status": "CRAWLED" if seed.status > 0 else "NOTCRAWLED",
                "seed": seed.url,
                "redirect": seed.redirect or None,
                "cause": seed.cause or None,
                "next_try": seed.next_try or None,
            }

    def line(self, row: Data) -> str:
        """See `RowReport.line`."""
        line = f"{row['code']} {row['status']} {safe(row['seed'])}"
        return f"{line} {safe(row['redirect'])}" if row["redirect"] else line

    def format_row(self, row: Data) -> Data:
        """The result in words: the cause where the report has one, else that of the status."""
        code = int(row["code"])
        result = "not tried yet" if not code else describe(code).rstrip(".")
        return row | {"result": str(row.get("cause") or "") or result, "code": str(row["code"])}


def _seed_order(seed: SeedFacts) -> tuple[int, int, str]:
    """Of failures and of replies the highest status first."""
    group = 0 if seed.status == 0 else 1 if seed.status < 0 else 2
    return group, -seed.status, seed.url


class _ReplyReport(RowReport):
    """A report that counts all replies."""

    note = (
        "All replies are counted: also those for robots.txt, and those to guesses that were not "
        "there, such as the icon. The crawl-summary contains the number of documents."
    )


class HostsReport(_ReplyReport):
    """Counts of each host, and how many of its URIs wait."""

    name = "hosts"
    summary = "documents and bytes of each host, new or known, and URIs left to fetch"
    file = "hosts-report.txt"
    header = (
        "[#urls] [#bytes] [host] [#robots] [#remaining] [#novel-urls] [#novel-bytes] "
        "[#dup-by-hash-urls] [#dup-by-hash-bytes] [#not-modified-urls] [#not-modified-bytes]"
    )
    title = "Hosts"
    columns: tuple[ReportColumn, ...] = (
        ReportColumn("host", "host", _URL),
        ReportColumn("urls", "replies", _COUNT),
        ReportColumn("bytes", "received", _BYTES),
        ReportColumn("novel_urls", "new URIs", _COUNT),
        ReportColumn("novel_bytes", "new", _BYTES),
        ReportColumn("dup_by_hash_urls", "same content URIs", _COUNT),
        ReportColumn("dup_by_hash_bytes", "same content", _BYTES, verbose=True),
        ReportColumn("not_modified_urls", "not modified URIs", _COUNT),
        ReportColumn("not_modified_bytes", "not modified", _BYTES, verbose=True),
        ReportColumn("robots", "refused by robots.txt", _COUNT),
        ReportColumn("remaining", "waiting URIs", _COUNT),
    )

    def rows(self, source: ReportSource) -> Iterator[Data]:
        """See `RowReport.rows`."""
        return _most_first(source, _hosts_by_name(source), "host")

    def line(self, row: Data) -> str:
        """See `RowReport.line`; it ends with a blank, as Heritrix's does: scripts count on it."""
        return f"{_values(row)} "


def _hosts_by_name(source: ReportSource) -> Iterator[Data]:
    """Yield the counts of each host, and its queued URIs, in order of the names."""
    by_name = itemgetter(0)
    counts = ((name, tally, 0) for name, tally in rows(source.store, "host"))
    waiting = sort_rows(source.remaining(), tuple[str, int], by_name, source.scratch)
    queued = ((name, None, number) for name, number in waiting)
    for name, group in groupby(merge(counts, queued, key=by_name), key=by_name):
        tally, remaining = Tally(), 0
        for _, result, number in group:
            tally = result or tally
            remaining += number
        yield _host_row(name, tally, remaining)


def _host_row(name: str, tally: Tally, remaining: int) -> Data:
    return {
        "urls": tally.urls,
        "bytes": tally.size,
        "host": name,
        "robots": tally.robots,
        "remaining": remaining,
        "novel_urls": tally.novel_urls,
        "novel_bytes": tally.novel_bytes,
        "dup_by_hash_urls": tally.duplicate_urls,
        "dup_by_hash_bytes": tally.duplicate_bytes,
        "not_modified_urls": tally.not_modified_urls,
        "not_modified_bytes": tally.not_modified_bytes,
    }


class SourcesReport(_ReplyReport):
    """Documents of each seed and host, tag by tag."""

    name = "source"
    summary = "documents of each seed and host (with `engine.source_tags`)"
    file = "source-report.txt"
    header = "[source] [host] [#urls]"
    empty = "No source tag information. (Is 'sourceTagSeeds' enabled? Here: engine.source_tags)"
    title = "Sources"
    columns: tuple[ReportColumn, ...] = (
        ReportColumn("source", "seed", _URL),
        ReportColumn("host", "host", _URL),
        ReportColumn("urls", "replies", _COUNT),
    )

    def rows(self, source: ReportSource) -> Iterator[Data]:
        """See `RowReport.rows`; with statuses if the job counts them."""
        codes = source_codes(source.store)
        first = next(codes, None)
        if first is not None:
            yield from _codes_of_sources(source, chain((first,), codes))
            return
        names = ((name.partition("\0"), tally) for name, tally in rows(source.store, "source"))
        result = (
            {"source": tag, "host": host, "urls": tally.urls} for (tag, _, host), tally in names
        )
        for _, group in groupby(result, key=itemgetter("source")):
            yield from _most_first(source, group, "host")

    def line(self, row: Data) -> str:
        """See `RowReport.line`."""
        return _values(row)

    def columns_of(self, data: Data) -> tuple[ReportColumn, ...]:
        """See `RowReport.columns_of`."""
        source, host, urls = self.columns
        coded = any("rescode" in row for row in data["rows"][:1])
        return (source, host, ReportColumn("rescode", "status"), urls) if coded else self.columns

    def _head(self, first: Data | None) -> str:
        coded = first is not None and "rescode" in first
        return "[source] [host] [rescode] [#urls]" if coded else super()._head(first)


def _codes_of_sources(
    source: ReportSource, codes: Iterator[tuple[str, str, str, int]]
) -> Iterator[Data]:
    """Rows by source and host, in the order of their names, the most frequent status first."""
    result = (
        {"source": tag, "host": host, "rescode": int(code), "urls": urls}
        for tag, host, code, urls in codes
    )
    for _, group in groupby(result, key=itemgetter("source", "host")):
        yield from _most_first(source, group, "rescode")


class MediaTypesReport(_ReplyReport):
    """Documents and bytes of each media type."""

    name = "mimetype"
    summary = "documents and bytes of each media type"
    file = "mimetype-report.txt"
    header = "[#urls] [#bytes] [mime-types]"
    title = "Media types"
    columns: tuple[ReportColumn, ...] = (
        ReportColumn("mime", "media type", _URL),
        ReportColumn("urls", "replies", _COUNT),
        ReportColumn("bytes", "received", _BYTES),
    )

    def rows(self, source: ReportSource) -> Iterator[Data]:
        """See `RowReport.rows`."""
        result = (
            {"urls": tally.urls, "bytes": tally.size, "mime": name}
            for name, tally in rows(source.store, "mime")
        )
        return _most_first(source, result, "mime")

    def line(self, row: Data) -> str:
        """See `RowReport.line`."""
        return _values(row)


class StatusCodesReport(RowReport):
    """URIs of each fetch status."""

    name = "responsecode"
    summary = "URIs of each status"
    file = "responsecode-report.txt"
    header = "[#urls] [rescode]"
    title = "Status codes"
    caption = "Replies and results by status"
    note = (
        "Each URI with a result is counted, also robots.txt; guesses that were not there, such as "
        "the icon, are not."
    )
    columns: tuple[ReportColumn, ...] = (
        ReportColumn("rescode", "status"),
        ReportColumn("meaning", "meaning"),
        ReportColumn("urls", "URIs", _COUNT),
    )

    def rows(self, source: ReportSource) -> Iterator[Data]:
        """See `RowReport.rows`."""
        result = (
            {"urls": tally.urls, "rescode": int(name)}
            for name, tally in rows(source.store, "status")
        )
        return _most_first(source, result, "rescode")

    def line(self, row: Data) -> str:
        """See `RowReport.line`."""
        return _values(row)

    def format_row(self, row: Data) -> Data:
        """The status with its meaning."""
        return row | {"rescode": str(row["rescode"]), "meaning": describe(row["rescode"])}
