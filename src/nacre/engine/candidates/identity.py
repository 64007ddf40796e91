"""From a URL to the CrawlURI that the frontier keeps: key, queue, directive, cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import structs

from nacre.annotations import IS_SITEMAP
from nacre.config.effective import Effective
from nacre.core.charsets import LINK
from nacre.core.crawluri import ELEMENT, CrawlURI, Directive, Hop, Outlink, extend_path
from nacre.engine.settings import UriSettings
from nacre.errors import ConfigError, Problem, URIError
from nacre.frontier.assignment import core_key, moves, needs_address, split_key
from nacre.frontier.policy import MAX_PRECEDENCE, Rank, prerequisite_rank, rank
from nacre.frontier.settings import FrontierSettings, QueueAssignment
from nacre.uri.canonical import DEFAULT, HERITRIX, Canonicalizer, rule, seen_key
from nacre.uri.parse import authority, host, is_ip, parse

_REDIRECT = Hop.REDIRECT  # the way to a member of an enumeration is long

_QUEUES = 65536
"""Authorities whose queue key is cached; a full cache is cleared."""


Addresses = Callable[[str], Sequence[str]]
"""The addresses of a host as far as they are known; none otherwise."""

Precedences = Callable[[str, bytes], int | None]
"""The precedence that a file gives a seen key; None when it gives none."""


def canonicalizer(settings: UriSettings) -> Canonicalizer:
    """Return the canonicalisation that the settings name."""
    if isinstance(settings.canonical, str):
        return Canonicalizer(HERITRIX if settings.canonical == "heritrix" else DEFAULT)
    rules = []
    for item in settings.canonical:
        params = {"regex": item.regex, "format": item.format} if item.regex else {}
        rules.append(rule(item.rule, **params))
    return Canonicalizer(rules)


class _Queues:
    """Queue keys under one choice; those of authorities met before are remembered."""

    __slots__ = ("_addresses", "_by_scheme", "_choice", "_known", "_plain", "_split")

    def __init__(self, choice: QueueAssignment, addresses: Addresses) -> None:
        self._choice = choice
        self._addresses = addresses
        self._split = choice.parallel_queues > 1
        self._plain = not needs_address(choice)
        self._by_scheme = choice.policy == "hostname"
        self._known: dict[str, str] = {}

    def key(self, url: str) -> str:
        """Queue key of a URL."""
        name = authority(url)
        if not (name and self._plain):
            return split_key(self._choice, self._core(url), url)
        if self._by_scheme:
            name += url[:5]
        key = self._known.get(name)
        if key is None:
            if len(self._known) >= _QUEUES:
                self._known.clear()
            key = self._known[name] = core_key(self._choice, url)
        return split_key(self._choice, key, url) if self._split else key

    def _core(self, url: str) -> str:
        name = host(url)
        if self._plain or not name:
            return core_key(self._choice, url)
        addresses = (name.strip("[]"),) if is_ip(name) else self._addresses(name)
        return core_key(self._choice, url, addresses)


class Identity:
    """Makes CrawlURIs; the only place that computes key and queue of a URL.

    Args:
        canonicalizer: For the seen key.
        settings: The frontier's.
        addresses: For queues by address.
        preloaded: For precedences from files.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        settings: Effective[FrontierSettings],
        addresses: Addresses | None = None,
        preloaded: Precedences | None = None,
    ) -> None:
        self._preloaded = preloaded or _not_given
        self._canonicalizer = canonicalizer
        self._settings = settings
        address_of = addresses or _unknown
        self._queues = settings.then(
            lambda frontier: _Queues(frontier.queue_assignment, address_of)
        )

    @property
    def moves(self) -> bool:
        """`queue` may give another key for a URI that is queued already."""
        return any(moves(settings.queue_assignment) for settings in self._settings)

    def canonical(self, url: str) -> str:
        """Canonical form of a URL, for the seen key only."""
        return self._canonicalizer.canonical(url)

    def key(self, url: str) -> bytes:
        """Seen key of a URL, 16 bytes."""
        return seen_key(self._canonicalizer.canonical(url))

    def queue(self, url: str, overlay: int = 0) -> str:
        """Return the queue key of a URL, by `frontier.queue_assignment`."""
        return self._queues[overlay].key(url)

    def requeue(self, uri: CrawlURI, overlay: int = 0) -> str:
        """Queue key of a URI that is queued already."""
        if moves(self._settings[overlay].queue_assignment):
            return self._queues[overlay].key(uri.url)
        return uri.queue

    def seed(
        self,
        url: str,
        *,
        source: str = "",
        heritable: Mapping[str, str] | None = None,
        overlay: int = 0,
    ) -> CrawlURI:
        """Return a seed: no via, directive MEDIUM."""
        key = self.key(url)
        settings = self._settings[overlay]
        order = self._apply_precedence(settings, key, rank(settings, "", is_seed=True, url=url))
        return CrawlURI(
            url=url,
            key=key,
            queue=self.queue(url, overlay),
            source=source,
            is_seed=True,
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
            heritable=dict(heritable or {}),
        )

    def child(self, parent: CrawlURI, link: Outlink, overlay: int = 0) -> CrawlURI:
        """Return a URI found on another: it inherits source tag and heritable data.

        A redirect target with its via's canonical key but another URL is forced: it is another
        page (http to https, or with a session id), not one already seen.
        """
        path = extend_path(parent.path, link.hop)
        key = self.key(link.url)
        settings = self._settings[overlay]
        order = rank(settings, path, url=link.url, via=parent.url)
        if settings.uri_precedence.file:
            order = self._apply_precedence(settings, key, order)
        return CrawlURI(
            url=link.url,
            key=key,
            queue=self.queue(link.url, overlay),
            via=parent.url,
            path=path,
            context=link.context,
            source=parent.source,
            force_fetch=link.hop is _REDIRECT and key == parent.key and link.url != parent.url,
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
            heritable=_inherit(parent, link),
            annotations=(IS_SITEMAP,) if link.sitemap else (),
        )

    def _apply_precedence(self, settings: FrontierSettings, key: bytes, order: Rank) -> Rank:
        """Return the rank, with the precedence that a file gives."""
        choice = settings.uri_precedence
        precedence = self._preloaded(choice.file, key) if choice.file else None
        return order if precedence is None else order._replace(precedence=precedence)

    def redirected_seed(self, parent: CrawlURI, link: Outlink, overlay: int = 0) -> CrawlURI:
        """Return the redirect target of a seed: a seed too, fetched even when it was seen."""
        return structs.replace(
            self.child(parent, link, overlay),
            is_seed=True,
            force_fetch=link.url != parent.url,
            directive=Directive.MEDIUM,
        )

    def prerequisite(
        self, parent: CrawlURI, url: str, heritable: Mapping[str, str] | None = None
    ) -> CrawlURI:
        """The URI to fetch before another: in the same queue, one directive sooner, forced."""
        order = prerequisite_rank(parent)
        return CrawlURI(
            url=url,
            key=self.key(url),
            queue=parent.queue,
            via=parent.url,
            path=extend_path(parent.path, Hop.PREREQUISITE),
            context="prerequisite",
            source=parent.source,
            force_fetch=True,
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
            heritable=dict(heritable or {}),
        )


def again_at(uri: CrawlURI, due: float) -> CrawlURI:
    """Return a URI as it enters the frontier again, to be fetched at a time; seen or not."""
    return structs.replace(
        uri,
        ordinal=0,
        not_before=due,
        force_fetch=True,
        attempts=0,
        deferrals=0,
        last_status=0,
        throttled=0,
        truncated=0,
        starved=0,
    )


def _unknown(_: str) -> Sequence[str]:
    """Nothing is known of addresses."""
    return ()


def _not_given(_file: str, _key: bytes) -> int | None:
    """No file gives a precedence."""
    return None


def _inherit(parent: CrawlURI, link: Outlink) -> dict[str, str]:
    """What descends: keys that begin with `_` are about the one URI only."""
    heritable = parent.heritable
    if heritable:
        heritable = {key: value for key, value in heritable.items() if key[0] != "_"}
    if link.hop is _REDIRECT and parent.is_loaded:
        heritable = {**heritable, ELEMENT: parent.element}
    return {**heritable, LINK: link.charset} if link.charset else heritable


_MOST_PROBLEMS = 20

Lines = Callable[[str], Sequence[str]]
"""The lines of a file by its name, relative to the job; raises OSError."""


class Preloaded:
    """Precedences of URIs that files give: lines of a URL, spaces, and a number from 0 to 127.

    A file is read when it is first needed and kept in memory, about 150 bytes for each URL. Source:
    Heritrix's PreloadedUriPrecedencePolicy and its PrecedenceLoader.

    Args:
        canonicalizer: For the seen key: a URL is found in whatever form it is met.
        read_lines: Reads a file.
    """

    def __init__(self, canonicalizer: Canonicalizer, read_lines: Lines) -> None:
        self._canonicalizer = canonicalizer
        self._read_lines = read_lines
        self._files: dict[str, Mapping[bytes, int]] = {}

    def __call__(self, file: str, key: bytes) -> int | None:
        """Return the precedence that a file gives a seen key; None when it gives none.

        Raises:
            ConfigError: The file cannot be read, or lines are not precedences.
        """
        if file not in self._files:
            self._files[file] = self.load(file)
        return self._files[file].get(key)

    def load(self, file: str) -> Mapping[bytes, int]:
        """Return all precedences of a file, by seen key.

        Raises:
            ConfigError: As above; the first 20 problems, each with its line.
        """
        try:
            lines = self._read_lines(file)
        except OSError as error:
            problem = Problem("", f"cannot be read: {error.strerror or error}", file=file)
            raise ConfigError([problem]) from error
        precedences: dict[bytes, int] = {}
        problems: list[Problem] = []
        for number, text in _entry_lines(lines):
            entry = self._entry(text)
            if isinstance(entry, str):
                problems.append(
                    Problem(
                        "",
                        f"{text[:80]!r}: {entry}",
                        f"a URL and a number from 0 to {MAX_PRECEDENCE}",
                        "http://example.org/ 2",
                        file,
                        number,
                    )
                )
            else:
                precedences[entry[0]] = entry[1]
            if len(problems) >= _MOST_PROBLEMS:
                break
        if problems:
            raise ConfigError(problems)
        return precedences

    def _entry(self, text: str) -> tuple[bytes, int] | str:
        """Return seen key and precedence of a line, or its problem as text."""
        url, _, number = text.rpartition(" ")
        if not number.isascii() or not number.isdigit() or int(number) > MAX_PRECEDENCE:
            return "it does not end with a precedence"
        try:
            return seen_key(self._canonicalizer.canonical(parse(url.strip()))), int(number)
        except URIError as error:
            return f"not a URL: {error}"


def _entry_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        text = " ".join(line.split())
        if text and not text.startswith("#"):
            yield number, text
