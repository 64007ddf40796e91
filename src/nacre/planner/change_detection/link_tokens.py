"""Tokens that a site writes into its links at each request: `/l?u=TARGET&h=TOKEN` (pure).

Nobody reads them. A parameter is one of them if its value differs in several links of a page at
once, and each of these links still leads where it led: the rest of its address is the same.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from nacre.core.pagerow import PageView
from nacre.planner.change_detection.masking import MASK, masked

_VALUE = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w+/=.-]{16,}", re.ASCII)
TOKEN_LINKS = 3
"""Links with different rests whose values must all differ: a single one may lead elsewhere."""
_TEXTS = frozenset(("text", "title", "heading", "nav", "advert", "date"))


class TokenAddress(NamedTuple):
    """An address with values like tokens.

    Attributes:
        keys: Host and name of each parameter that has such a value.
        rest: The address without these values.
        values: The values, by their keys.
    """

    keys: frozenset[str]
    rest: str
    values: tuple[str, ...]


@lru_cache(maxsize=8_192)
def token_address(address: str) -> TokenAddress | None:
    """Take an address apart; None if no parameter has a value like a token."""
    path, mark, query = address.partition("?")
    if not mark:
        return None
    host = path.partition("//")[2].partition("/")[0]
    keys, rest, values = [], [], []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        is_token = _VALUE.fullmatch(value) is not None
        if is_token:
            keys.append(f"{host} {name}")
            values.append(value)
        rest.append(name if is_token else part)
    joined = f"{path}?{'&'.join(rest)}"
    return TokenAddress(frozenset(keys), joined, tuple(values)) if keys else None


def token_links(view: PageView) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """The values of the links of a page, by the keys of their parameters and by their rests."""
    links: dict[str, dict[str, frozenset[str]]] = {}
    for piece in view.pieces:
        address = None if piece.kind in _TEXTS else token_address(piece.text)
        if address is not None:
            for key in address.keys:
                rests = links.setdefault(key, {})
                rests[address.rest] = rests.get(address.rest, frozenset()) | {*address.values}
    return links


def renewed_addresses(
    old: PageView, new: PageView, renewals: Collection[str]
) -> Mapping[str, bool]:
    """The addresses, without their tokens, of which another version has other tokens.

    Args:
        old: The version before.
        new: The version now.
        renewals: Addresses that were renewed at earlier visits.

    Returns:
        Whether none of the links with this address stayed as it was.
    """
    before, after = (
        {piece.text for piece in view.pieces if piece.kind not in _TEXTS} for view in (old, new)
    )
    pairs = {*map(masked, before - after)} & {*map(masked, after - before)}
    names = {name for name in (*pairs, *renewals) if MASK in name}
    # Only a text that begins as a name does can be masked to it: masking takes 30 µs each.
    prefixes = tuple({name.partition(MASK)[0] for name in names})
    stays = names & {masked(text) for text in before & after if text.startswith(prefixes)}
    return {name: name not in stays for name in (pairs & names) | stays}


def renewed_tokens(old: PageView, new: PageView) -> Mapping[str, int]:
    """The parameters that both versions of a page have in links, by their keys.

    Returns:
        In how many links with different rests the value differs; 0 if it stayed in one of them.
    """
    before, after = token_links(old), token_links(new)
    renewed = {}
    for key in before.keys() & after.keys():
        rests = before[key].keys() & after[key].keys()
        stays = any(before[key][rest] & after[key][rest] for rest in rests)
        if rests:
            renewed[key] = 0 if stays else len(rests)
    return renewed
