"""Limits of lists by domain, of a file: `cycle.generate.limits`."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nacre.crawldb.kernels import Kernel
from nacre.crawldb.row import bucket_of_domain


class DomainLimit(NamedTuple):
    """A line of a file of limits.

    Attributes:
        domain: The registered domain.
        urls: URLs of it in a list; None: no limit.
        hosts: Hosts of it in a list, those with the best URLs; None: no limit.
        per_host: URLs of each of its hosts; None: that of the settings.
    """

    domain: str
    urls: int | None = None
    hosts: int | None = None
    per_host: int | None = None


def read_limits(text: str) -> list[DomainLimit]:
    """The lines of a file of limits: domain, URLs, hosts, URLs of a host, separated by tabs.

    An empty field, a missing one and -1 set no limit; `#` begins a comment. Source: the file of
    `generate.domain.limits.file` of Common Crawl's fork of Nutch.

    Raises:
        ValueError: A line is none of these; the message has its number.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        said = line.partition("#")[0].rstrip()
        if not said.strip():
            continue
        domain, *fields = (field.strip() for field in said.split("\t"))
        try:
            values = [None if one in ("", "-1") else int(one) for one in fields]
        except ValueError:
            values = [-2]
        if len(values) > 3 or any(one is not None and one < 0 for one in values):
            raise ValueError(
                f"line {number}: not `domain TAB URLs TAB hosts TAB URLs of a host`: {line!r}"
            )
        found.append(DomainLimit(domain.lower(), *values))
    return found


def limits_by_bucket(
    limits: Iterable[DomainLimit], buckets: int
) -> dict[int, tuple[DomainLimit, ...]]:
    """The lines for the domains of each bucket that has any, in their order.

    Args:
        limits: The lines of a file.
        buckets: Number of buckets, a power of two.
    """
    found: dict[int, list[DomainLimit]] = {}
    for one in limits:
        found.setdefault(bucket_of_domain(one.domain, buckets), []).append(one)
    return {bucket: tuple(lines) for bucket, lines in found.items()}


def load_limits(kernel: Kernel, limits: Sequence[DomainLimit]) -> None:
    """Make the table `limits` of a kernel; of several lines of a domain the last one counts."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    newest = {one.domain: one for one in limits}
    numbers = [pa.field(name, pa.int64()) for name in DomainLimit._fields[1:]]
    schema = pa.schema([pa.field("domain", pa.string()), *numbers])
    kernel.load("limits", pa.Table.from_pylist([one._asdict() for one in newest.values()], schema))
