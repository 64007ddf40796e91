"""Limits of lists by domain, from a file: `cycle.generate.limits`."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nacre.crawldb.kernels import Kernel
from nacre.crawldb.row import bucket_of_domain


class DomainLimit(NamedTuple):
    """A line of a file of limits.

    Attributes:
        domain: The registered domain.
        urls: Most URLs of it in a list; None: no limit.
        hosts: Most hosts of it in a list, those with the best URLs; None: no limit.
        per_host: Most URLs of each of its hosts; None: the limit of the settings.
    """

    domain: str
    urls: int | None = None
    hosts: int | None = None
    per_host: int | None = None


def read_limits(text: str) -> list[DomainLimit]:
    """Read a file of limits: domain, URLs, hosts, URLs of a host, separated by tabs.

    An empty field, a missing one and -1 set no limit; `#` begins a comment. Source: the file of
    `generate.domain.limits.file` of Common Crawl's fork of Nutch.

    Raises:
        ValueError: A line is invalid; the message has its number.
    """
    limits = []
    for number, line in enumerate(text.splitlines(), 1):
        data = line.partition("#")[0].rstrip()
        if not data.strip():
            continue
        domain, *fields = (field.strip() for field in data.split("\t"))
        try:
            values = [None if value in ("", "-1") else int(value) for value in fields]
        except ValueError:
            values = [-2]
        if len(values) > 3 or any(value is not None and value < 0 for value in values):
            raise ValueError(
                f"line {number}: not `domain TAB URLs TAB hosts TAB URLs of a host`: {line!r}"
            )
        limits.append(DomainLimit(domain.lower(), *values))
    return limits


def limits_by_bucket(
    limits: Iterable[DomainLimit], buckets: int
) -> dict[int, tuple[DomainLimit, ...]]:
    """Return the lines for the domains of each bucket that has any, in their order.

    Args:
        limits: The lines of a file.
        buckets: Number of buckets, a power of two.
    """
    by_bucket: dict[int, list[DomainLimit]] = {}
    for limit in limits:
        by_bucket.setdefault(bucket_of_domain(limit.domain, buckets), []).append(limit)
    return {bucket: tuple(lines) for bucket, lines in by_bucket.items()}


def load_limits(kernel: Kernel, limits: Sequence[DomainLimit]) -> None:
    """Make the table `limits` of a kernel; the last line of a domain wins."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    newest = {limit.domain: limit for limit in limits}
    numbers = [pa.field(name, pa.int64()) for name in DomainLimit._fields[1:]]
    schema = pa.schema([pa.field("domain", pa.string()), *numbers])
    kernel.load(
        "limits", pa.Table.from_pylist([limit._asdict() for limit in newest.values()], schema)
    )
