"""The key of a URL as a user types it."""

from collections.abc import Iterator
from pathlib import Path

from nacre.config.seed_file import seed_lines
from nacre.engine.candidates.identity import canonicalizer
from nacre.scope.seeds import Seed, read_seeds
from nacre.settings.settings import JobSettings
from nacre.uri.parse import parse
from nacre.uri.typed import is_whole, take_login, typed_url, without_login


def key_of(settings: JobSettings, url: str, root: Path) -> tuple[str, str]:
    """Return a URL as it is requested, and its key.

    Args:
        settings: The settings of the cycle.
        url: The URL as it is typed: a path is on the site of the seeds in the settings.
        root: The directory of the cycle.

    Raises:
        URIError: It is no URL, or may be on several sites.
    """

    def seeds() -> Iterator[str]:
        entries = read_seeds(seed_lines(settings.seeds, root))
        return (entry.url for entry in entries if isinstance(entry, Seed))

    plain = take_login(parse(url))[0] if is_whole(url) else typed_url(without_login(url), seeds)
    return plain, canonicalizer(settings.uri).canonical(plain)
