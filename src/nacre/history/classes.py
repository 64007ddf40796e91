"""Priors of classes of pages: template, layout, site, all (pure).

A class that has been revisited often speaks for itself, a small one leans on the wider one. Source:
reference/incremental.md 2.1 (back-off chain).
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.rates import FILES, FLAT, Distribution, fit_prior, posterior
from nacre.uri.parse import authority

_KEPT = 300
_INDEX = 0.5


class Classes:
    """Priors, fitted from the rows at the start of a step.

    Args:
        of: Which evidence of a row is meant: of its changes, or of its arrivals.
        root: Prior of a class of which nothing is known.
    """

    def __init__(self, of: Callable[[PageRow], bytes], root: Distribution = FLAT) -> None:
        self._of = of
        self._root = root
        self._priors: dict[str, Distribution] = {}

    def fit(self, rows: Iterable[PageRow], quiet: Callable[[PageRow], bytes] | None = None) -> None:
        """Fit all priors anew from a bounded sample of the rows of each class.

        Args:
            rows: All rows.
            quiet: What speaks for rows without evidence; b"" for nothing.
        """
        samples: dict[str, tuple[str, _Sample]] = {}
        for row in rows:
            evidence = self._of(row) or (quiet(row) if quiet else b"")
            if not evidence:
                continue
            lot, wider = _lot(row.url), ""
            for name in _chain(row):
                if name not in samples:
                    samples[name] = (wider, _Sample(_KEPT))
                samples[name][1].add(lot, evidence)
                wider = name
        # Wider classes come first: each name was met behind the one that it leans on.
        for name, (wider, sample) in samples.items():
            parent = self._priors.get(wider) or self._root_of(name)
            self._priors[name] = fit_prior(sample.evidences, parent, start=self._priors.get(name))

    def posterior(self, row: PageRow) -> Distribution:
        """What a row's evidence and its class say of its rate."""
        priors, names = self._priors, _chain(row)
        found = next((priors[name] for name in reversed(names) if name in priors), None)
        prior = found or self._root_of(names[0])
        evidence = self._of(row)
        return posterior(evidence, prior) if evidence else prior

    def _root_of(self, name: str) -> Distribution:
        return FILES if name.startswith(PageKind.FILE) else self._root


def _chain(row: PageRow) -> tuple[str, ...]:
    """The classes of a row, widest first: all index pages or all others, site, layout, template."""
    kind = "index" if row.index >= _INDEX else str(row.kind)
    site = f"{kind} {authority(row.url)}"
    return kind, site, f"{site} {layout(row.template)}", row.template


@lru_cache(maxsize=50_000)
def layout(template: str) -> str:
    """A URL template without its plain words: the same in all sections of a site."""
    parts = template.split("/")[3:]
    return "/".join(part if "{" in part or part.startswith("?") else "*" for part in parts)


class _Sample:
    """The evidences with the smallest lots: the same ones whatever the order of the rows."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: list[tuple[int, bytes]] = []

    def add(self, lot: int, evidence: bytes) -> None:
        kept = self._kept
        kept.append((lot, evidence))
        if len(kept) >= 2 * self._size:
            kept.sort()
            del kept[self._size :]

    @property
    def evidences(self) -> list[bytes]:
        self._kept.sort()
        return [evidence for _, evidence in self._kept[: self._size]]


def _lot(url: str) -> int:
    return int.from_bytes(blake2b(url.encode("utf-8", "replace"), digest_size=8).digest(), "big")
