"""Priors of classes of pages: template, layout, site, all (pure).

A class that has been revisited often speaks for itself, a small one leans on the wider one.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.slices import Slices, at_once
from nacre.history.worth.rates import (
    CODE,
    FILES,
    FLAT,
    LISTS,
    MEDIA,
    Distribution,
    fit_prior,
    posterior,
)
from nacre.uri.parse import authority

_KEPT = 300
_CODE = "code"
_ROOTS: dict[str, Distribution] = {PageKind.FILE: FILES, PageKind.EMBED: MEDIA, _CODE: CODE}
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
        self._samples: dict[str, _Sample] = {}

    def fit(self, rows: Iterable[PageRow], quiet: Callable[[PageRow], bytes] | None = None) -> None:
        """Fit all priors anew from a bounded sample of the rows of each class.

        Args:
            rows: All rows.
            quiet: What speaks for rows without evidence; b"" for nothing.
        """
        self.forget()
        for row in rows:
            self.note(row, quiet)
        at_once(self.refit())

    def forget(self) -> None:
        """Drop the samples; the priors stay until the next fit."""
        self._samples = {}

    def note(self, row: PageRow, quiet: Callable[[PageRow], bytes] | None = None) -> None:
        """Take a row into the samples of its classes, or take in what is known of it now."""
        evidence = self._of(row) or (quiet(row) if quiet else b"")
        lot, wider = _lot(row.url), ""
        for name in _chain(row):
            sample = self._samples.get(name)
            if sample is None:
                if not evidence:
                    return
                sample = self._samples[name] = _Sample(wider, _KEPT)
            sample.note(lot, evidence)
            wider = name

    def refit(self) -> Slices[None]:
        """Fit all priors from the samples."""
        # Wider classes come first: each name was met behind the one that it leans on.
        for name, sample in list(self._samples.items()):
            yield
            parent = self._priors.get(sample.wider) or self._root_of(name)
            self._priors[name] = fit_prior(sample.evidences, parent, start=self._priors.get(name))

    def posterior(self, row: PageRow) -> Distribution:
        """What a row's evidence and its class say of its rate."""
        prior, evidence = self.prior(row), self._of(row)
        return posterior(evidence, prior) if evidence else prior

    def prior(self, row: PageRow) -> Distribution:
        """What its class says of its rate."""
        priors, names = self._priors, _chain(row)
        found = next((priors[name] for name in reversed(names) if name in priors), None)
        return found or self._root_of(names[0])

    def _root_of(self, name: str) -> Distribution:
        kind = name.partition(" ")[0]
        return self._root if self._root is LISTS else _ROOTS.get(kind, self._root)


def _sort(row: PageRow) -> str:
    """What it is; style sheets and scripts are apart from other embeds, which change less."""
    code = row.kind is PageKind.EMBED and row.template.partition("/?")[0].endswith((".css", ".js"))
    return _CODE if code else str(row.kind)


def _chain(row: PageRow) -> tuple[str, ...]:
    """The classes of a row, widest first: all index pages or all others, site, layout, template."""
    kind = "index" if row.index >= _INDEX else _sort(row)
    site = f"{kind} {authority(row.url)}"
    return kind, site, f"{site} {layout(row.template)}", row.template


@lru_cache(maxsize=50_000)
def layout(template: str) -> str:
    """A URL template without its plain words: the same in all sections of a site."""
    parts = template.split("/")[3:]
    return "/".join(part if "{" in part or part.startswith("?") else "*" for part in parts)


class _Sample:
    """The evidences with the smallest lots: the same ones whatever the order of the rows."""

    def __init__(self, wider: str, size: int) -> None:
        self.wider = wider
        self._size = size
        self._kept: dict[int, bytes] = {}

    def note(self, lot: int, evidence: bytes) -> None:
        kept = self._kept
        if not evidence:
            kept.pop(lot, None)
            return
        kept[lot] = evidence
        if len(kept) >= 2 * self._size:
            self._kept = {one: kept[one] for one in sorted(kept)[: self._size]}

    @property
    def evidences(self) -> list[bytes]:
        return [self._kept[one] for one in sorted(self._kept)[: self._size]]


def _lot(url: str) -> int:
    return int.from_bytes(blake2b(url.encode("utf-8", "replace"), digest_size=8).digest(), "big")
