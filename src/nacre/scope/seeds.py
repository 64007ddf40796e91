"""Seed lists: plain lines, comments, and `+` / `-` directives. Source: Heritrix 3."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote

from nacre.errors import URIError
from nacre.scope.seed_scope import ScopeKind, SeedOwnScope
from nacre.uri.parse import IGNORED_SCHEMES, parse
from nacre.uri.surt import implied_by, implied_prefix
from nacre.uri.typed import HIDDEN, Login, redact, take_login, without_login

_NO_PAGES = IGNORED_SCHEMES | {"callto", "magnet", "sip", "sips", "skype", "urn", "xmpp"}
"""Schemes of addresses at which there is nothing to fetch."""
_SHOWN = 500
_QUOTED = 200
_BROKEN = "\ufffd"
_DIGITS = 4
_HOST_END = re.compile(r"[/?#:]")
_BROKEN_SCHEME = re.compile(r"(https?)(?::[/\\]{1,2}|/{1,2})(?=[^/\\])", re.IGNORECASE)
_DOT = re.compile("[.\u3002\uff0e\uff61]")  # as IDNA has it
_KINDS = frozenset(str(kind) for kind in ScopeKind)
_OWN = ("scope=", "depth=", "of=")
_PLAIN = ":/?[]@!$&'(),*+;=~"
_OPTIONS = re.compile(r"(?:\s+[a-z_]+=\S*)+\Z")


class Seed(NamedTuple):
    """One seed.

    Attributes:
        text: The line as typed, without its options, its name and its password; it is also its
            source tag.
        url: What to fetch.
        fallback: Tried when `url` cannot be reached: http where https was a guess; "" for none.
        own: Its own scope and depth; None for those of the job.
        login: Name and password in it, for its origin; None for none. Its URL has none.
        of: Text of the seed that it shares that scope with, because that seed moved here; "" for
            none.
    """

    text: str
    url: str
    fallback: str = ""
    own: SeedOwnScope | None = None
    login: Login | None = None
    of: str = ""

    @property
    def owner(self) -> str:
        """Key of the scope of the seed's descendants; "" if the scope of the job applies."""
        return "" if self.own is None else self.of or self.text


class SeedDirective(NamedTuple):
    """A `+` or `-` line: a SURT prefix or URL for the scope."""

    text: str


class BadSeed(NamedTuple):
    """A line that is neither: its number from 1, its text, the reason; `file` is "" if typed."""

    line: int
    text: str
    reason: str
    file: str = ""

    def __str__(self) -> str:
        """`list.txt:3: 'not a url' is not a seed: why`, cut where the line is long."""
        place = f"{self.file}:{self.line}: " if self.file else ""
        return f"{place}{self.text[:_QUOTED]!r} is not a seed: {self.reason}"


Entry = Seed | SeedDirective | BadSeed


class SeedList(NamedTuple):
    """Lines of seeds, and the file that contains them, as the operator named it; "" when typed."""

    file: str
    lines: Iterable[str]


def read_seeds(lines: Iterable[str], file: str = "") -> Iterator[Entry]:
    """Read a seed list, an entry at a time; `file`: how the operator named it.

    `#` starts a comment at the start of a line or after a blank. A line that begins with a letter
    or digit is a seed; without a scheme https is tried first, then http. `+` and `-` lines are
    directives for the scope. What is neither is reported with its line number.
    """
    for number, text in _entries(lines):
        try:
            yield _entry(text)
        except URIError as error:
            quoted = text if is_no_page(text) else redact(text)
            yield BadSeed(number, quoted[:_SHOWN], _describe_error(error, text)[:_SHOWN], file)


def is_no_page(text: str) -> bool:
    """Return whether a line has a scheme without pages: `mailto:`, `tel:`, `javascript:`."""
    name, colon, _ = text.partition(":")
    return bool(colon) and name.strip().lower() in _NO_PAGES


def _describe_error(error: URIError, text: str) -> str:
    """What is wrong, without the name and the password that the quoted text may contain."""
    reason = str(error)
    if is_no_page(text):
        return reason
    if "@" in text and "@" not in reason:  # the quotation was cut
        return reason.partition(":")[0]
    return redact(reason)


def _entry(text: str) -> Entry:
    if _BROKEN in text:
        raise URIError("it has bytes that are not text in the encoding of the list")
    if text[0] not in "+-":
        return parse_seed(text)
    plain = text if "(" in text else text[0] + without_login(text[1:])
    implied_prefix(plain[1:])
    return SeedDirective(plain)


def _entries(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("\ufeff")
        if text.startswith("#"):
            continue
        for mark in (" #", "\t#"):
            text = text.partition(mark)[0].rstrip()
        if text:
            yield number, text


def parse_seed(text: str) -> Seed:
    """Parse a seed: a URL, then optionally `scope=` and `depth=` for its own scope.

    Raises:
        URIError: It is none, or an option is wrong.
    """
    # After a tab, there are columns of a table or Nutch's metadata; URL parsers would drop the tab.
    head, _, options_text = text.strip().partition("\t")
    options = _OPTIONS.search(head)
    words = [*(options[0].split() if options else ()), *own_scope_words(options_text)]
    seed = _plain_seed(head[: options.start() if options else None].rstrip())
    if not words:
        return seed
    of = [word.removeprefix("of=") for word in words if word.startswith("of=")]
    own = _own_scope(word for word in words if not word.startswith("of="))
    return seed._replace(own=own, of=unquote(of[-1]) if of else "")


def own_scope_words(text: str) -> list[str]:
    """Return the words of a seed's own scope in its columns: `scope=host`, `depth=2`, `of=SEED`."""
    return [word for word in text.split() if word.startswith(_OWN)]


def seed_as_line(seed: Seed) -> str:
    """Return a seed as `parse_seed` reads it again, without name and password."""
    own = seed.own or SeedOwnScope()
    options = f" scope={own.scope}" if own.scope is not None else ""
    options += f" depth={own.depth}" if own.depth is not None else ""
    return seed.text + options + (f" of={quote(seed.of, safe=_PLAIN)}" if seed.of else "")


def _own_scope(options: Iterable[str]) -> SeedOwnScope:
    own = SeedOwnScope()
    for option in options:
        name, _, value = option.partition("=")
        if name == "scope" and value in _KINDS:
            own = own._replace(scope=ScopeKind(value))
        elif name == "depth" and value.isdecimal() and len(value) <= _DIGITS:
            own = own._replace(depth=int(value))
        else:
            kinds = "|".join(sorted(_KINDS))
            raise URIError(
                f"{option!r} is no option of a seed; the options are scope={kinds} and depth=NUMBER"
            )
    return own


def seed_line(value: object) -> object:
    """A seed of the configuration as a line: `{url: …, scope: host, depth: 2}` is equivalent."""
    if not isinstance(value, Mapping):
        return value
    unknown = sorted(set(value) - {"url", "scope", "depth"})
    if unknown or not isinstance(value.get("url"), str):
        raise ValueError("a seed has `url`, and may have `scope` and `depth`")
    options = (f" {name}={value[name]}" for name in ("scope", "depth") if name in value)
    return value["url"].strip() + "".join(options)


def _is_a_note(text: str) -> bool:
    """Return True for a word beyond ASCII without a dot: `看去年的表` is not a host, but a note."""
    name = _HOST_END.split(text, maxsplit=1)[0]
    return not name.isascii() and not _DOT.search(name)


def _refuse_a_broken_scheme(text: str) -> None:
    """`http//a.test/` is not a page of a host that is named `http`."""
    broken = _BROKEN_SCHEME.match(text)
    if broken:
        meant = f"{broken[1].lower()}://{text[broken.end() :]}"
        raise URIError(f"its scheme lacks a character; did you mean {meant[:_QUOTED]!r}?")


def _plain_seed(text: str) -> Seed:
    if ("://" in text.partition("?")[0] and not is_no_page(text)) or text.startswith("dns:"):
        seed = Seed(text, parse(text))
    elif is_no_page(text):
        name = text.partition(":")[0].lower()
        raise URIError(f"there is nothing to fetch at an address that begins with `{name}:`")
    elif text.startswith(f"{HIDDEN}@"):
        raise URIError("the name and the password in it were removed; type it again without them")
    elif _is_a_note(text):
        raise URIError(f"neither a URL nor a host name, which has a dot: {text[:_QUOTED]!r}")
    else:
        _refuse_a_broken_scheme(text)
        seed = Seed(text, parse(f"https://{text}"), parse(f"http://{text}"))
    seed = _apart_from_login(seed)
    # The scope needs a SURT prefix: `htp:/example.org` and `file:///a` fail here.
    implied_by(seed.text, seed.url)
    return seed


def _apart_from_login(seed: Seed) -> Seed:
    """The password goes to `https` only where the scheme was a guess: never in clear unasked."""
    url, login = take_login(seed.url)
    if login is None:
        return seed
    fallback = take_login(seed.fallback)[0] if seed.fallback else ""
    text = without_login(seed.text)
    return seed._replace(
        text=url if "@" in text.partition("?")[0] else text, url=url, fallback=fallback, login=login
    )
