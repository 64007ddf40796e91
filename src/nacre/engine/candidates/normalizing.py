"""Seeds, links and redirects in the normal form that the job's normalizers give them."""

from collections.abc import Iterable, Iterator

from nacre.core.recent_table import RecentTable
from nacre.engine.candidates.scope_state import RuleFiles, all_chains
from nacre.engine.settings import UriSettings
from nacre.errors import URIError
from nacre.scope.normalize.chain import NormalizerChain
from nacre.scope.seeds import Seed
from nacre.uri.parse import parse

_KEPT = 50_000
"""Links whose normal form is remembered, in each of two generations."""


class Normalizing:
    """The chains of a job.

    Args:
        inject: For seeds.
        outlink: For links.
        fetcher: For redirects.
        max_length: Longest URL.
    """

    def __init__(
        self,
        inject: NormalizerChain,
        outlink: NormalizerChain,
        fetcher: NormalizerChain,
        max_length: int,
    ) -> None:
        self._inject = inject
        self._outlink = outlink
        self._fetcher = fetcher
        self._max_length = max_length
        self._links: RecentTable[str, str] = RecentTable(_KEPT)
        self._redirects: RecentTable[str, str] = RecentTable(_KEPT)

    def link(self, url: str, *, is_redirect: bool = False) -> str | None:
        """Return a link in its normal form, as it is requested; None if it has none."""
        cache = self._redirects if is_redirect else self._links
        form = cache.get(url)
        if form is None:
            form = self._apply(self._fetcher if is_redirect else self._outlink, url) or ""
            cache.put(url, form, len(url) + len(form))
        return form or None

    def seeds(self, seeds: Iterable[Seed]) -> Iterator[Seed]:
        """Yield seeds in their normal forms; a seed without a normal form stays as typed."""
        for seed in seeds:
            url = self._apply(self._inject, seed.url) or seed.url
            fallback = self._apply(self._inject, seed.fallback) if seed.fallback else ""
            yield seed._replace(url=url, fallback=fallback or "")

    def _apply(self, chain: NormalizerChain, url: str) -> str | None:
        if not chain:
            return url
        try:
            normalized = chain.normalize(url)
            return url if normalized == url else parse(normalized, max_length=self._max_length)
        except URIError:
            return None


def normalizing(settings: UriSettings, files: RuleFiles) -> Normalizing | None:
    """Return the normalizers of a job; None if it has none, so that they cost nothing.

    Raises:
        ConfigError: A file cannot be read, or contains an invalid rule.
    """
    if not settings.normalize:
        return None
    inject, outlink, fetcher = all_chains(settings, files)
    return Normalizing(inject, outlink, fetcher, settings.max_length)
