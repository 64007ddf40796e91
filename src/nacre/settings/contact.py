"""Decides which servers may be crawled without a contact: only the operator's own servers.

A public crawl needs a contact that the owners of sites can reach.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from nacre.errors import Problem
from nacre.fetch.dns import DnsResolver
from nacre.fetch.guard import AddressGuard, is_public_host
from nacre.messages import message
from nacre.settings.layers import user_config
from nacre.settings.settings import JobSettings
from nacre.wire.urltext import letters_of_host

Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a host; none when it has none."""


def resolver_lookup(resolver: DnsResolver) -> Lookup:
    """Looks hosts up as the crawl will."""

    async def lookup(name: str) -> Sequence[str]:
        return (await resolver.lookup(name)).addresses

    return lookup


def no_lookup() -> Lookup:
    """Return a look-up without results, for checks that must be fast."""

    async def nothing(_: str) -> Sequence[str]:
        return ()

    return nothing


async def public_hosts(names: Iterable[str], allow: Sequence[str], lookup: Lookup) -> list[str]:
    """Hosts of seeds that are not plainly the operator's own, in order of appearance.

    Own are: special addresses, names of a private kind (`is_public_host`), and hosts whose
    addresses are all in `network.allow`.

    Args:
        names: The hosts.
        allow: `network.allow`.
        lookup: Called only if `allow` contains a network.
    """
    guard = AddressGuard(allow)
    public = [name for name in names if is_public_host(name)]
    if not allow:
        return public
    return [name for name in public if not await _is_listed(name, guard, lookup)]


async def _is_listed(name: str, guard: AddressGuard, lookup: Lookup) -> bool:
    addresses = await lookup(name)
    return bool(addresses) and all(guard.is_listed(address) for address in addresses)


def contact_problems(settings: JobSettings, public: Sequence[str]) -> list[Problem]:
    """Return the problems of a crawl of public hosts without a contact.

    Args:
        settings: The job's settings.
        public: Public hosts among the seeds (`public_hosts`).
    """
    if not public:
        return []
    problems = []
    contact = settings.fetch.contact
    if not is_reachable(contact):
        problems.append(bad_contact(contact) if contact.strip() else _no_contact(public))
    if settings.politeness.delay == 0:
        problems.append(_no_delay(public))
    return problems


def is_reachable(contact: str) -> bool:
    """Return whether a contact looks like a mail address or a web page."""
    return "@" in contact.strip("@ ") or contact.startswith(("http://", "https://"))


def _no_contact(public: Sequence[str]) -> Problem:
    return Problem(
        "fetch.contact",
        message(
            "settings.contact-missing",
            "{named} public, so say who is crawling: the owners of a site that the crawl "
            "troubles must be able to reach you. Your contact becomes part of the User-Agent.",
            named=_list_names(public),
        ),
        message(
            "settings.contact-option",
            "--contact with a web page about the crawl or a mail address, once for this crawl; "
            "or for all of them, in {user_config}",
            user_config=user_config(),
        ),
        "fetch: {contact: https://library.example/crawler}",
    )


def bad_contact(contact: str, path: str = "fetch.contact") -> Problem:
    """Return the problem of a contact that is not `is_reachable`.

    Args:
        contact: The contact.
        path: The setting or option that has it.
    """
    return Problem(
        path,
        message(
            "settings.contact-format",
            "{contact!r} is neither a web page nor a mail address: site owners could not reach "
            "you by it; it becomes part of the User-Agent",
            contact=contact[:100],
        ),
        message(
            "settings.web-page-about-crawl",
            "a web page about the crawl, with http:// or https://, or a mail address",
        ),
        "--contact https://library.example/crawler",
    )


def _no_delay(public: Sequence[str]) -> Problem:
    return Problem(
        "politeness.delay",
        message(
            "settings.no-delay-public",
            "a delay of 0 loads a server as fast as it can answer, and {named} public; it is "
            "for servers of your own",
            named=_list_names(public),
        ),
        message(
            "settings.delay-with-some-seconds",
            "--delay with some seconds, or none for the polite default; or, where the server "
            "is yours, --allow-net with its network",
        ),
        "--allow-net 192.0.2.0/24",
    )


def _list_names(public: Sequence[str]) -> str:
    names = [_with_letters(name) for name in public[:2]]
    if len(public) == 1:
        return f"{names[0]} is"
    more = f" and {len(public) - 2} more" if len(public) > 2 else ""
    return f"{', '.join(names)}{more} are" if more else f"{names[0]} and {names[1]} are"


def _with_letters(name: str) -> str:
    """Return the name of a host, and beside an `xn--` name its letters."""
    text = letters_of_host(name)
    return name if text == name else f"{name} ({text})"
