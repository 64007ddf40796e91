"""The tree of places with sheets: domains, their hosts, and paths below these (pure)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.console.settings.sheets import SheetPlace
from nacre.uri.domain import registered_domain
from nacre.uri.parse import is_ip


class SheetNode(NamedTuple):
    """A node of the tree.

    Attributes:
        label: Its part of the name: a domain, a host, a part of a path.
        place: What applies there of itself, as `list_sheets` has it; None for a node that only
            has others below it.
        nodes: The nodes below it.
        places: Places in it and below it.
    """

    label: str
    place: SheetPlace | None
    nodes: tuple["SheetNode", ...]
    places: int


def sheet_tree(places: Iterable[SheetPlace]) -> tuple[SheetNode, ...]:
    """The places as a tree; a level without a choice and without sheets is left out.

    Args:
        places: The places.
    """
    tree: dict[str, Any] = {}
    for place in places:
        here = tree
        for label in labels_of(place.prefix):
            here = here.setdefault(label, {})
        here.setdefault("", []).append(place)
    return _nodes(tree)


def _nodes(tree: Mapping[str, Any]) -> tuple[SheetNode, ...]:
    found: list[SheetNode] = []
    for label, below in tree.items():
        if not label:
            continue
        own, nodes = list(below.get("", ())), _nodes(below)
        if not own and len(nodes) == 1:
            found.append(nodes[0]._replace(label=_joined(label, nodes[0].label)))
            continue
        count = bool(own) + sum(node.places for node in nodes)
        # http and https of one place are two prefixes.
        more = [SheetNode(one.prefix, one, (), 1) for one in own[1:]]
        found += [SheetNode(label, own[0] if own else None, nodes, count), *more]
    return tuple(found)


def _joined(above: str, label: str) -> str:
    """The label of two levels that are shown as one: a host stands for its domain."""
    return label if not label.startswith("/") or "/" in above else above + label


def labels_of(prefix: str) -> Sequence[str]:
    """The levels of a SURT prefix: registered domain, host, then the parts of the path.

    Args:
        prefix: Such as `http://(org,example,www,)/a/`; without `)` it is all below a domain.
    """
    rest = prefix.partition("(")[2]
    authority, closed, path = rest.partition(")")
    name, _, port = _host(authority)
    if not name:
        return ("*",)
    domain = name if is_ip(name) else registered_domain(name) or name
    host = f"{name}:{port}" if port else name
    if not closed:
        host = f"*.{host}"
    parts = [f"/{part}" for part in path.split("/")[1:] if part]
    return tuple(dict.fromkeys((domain, host))) + tuple(parts)


def _host(authority: str) -> tuple[str, str, str]:
    """Name and port of the authority of a SURT, in the order of names."""
    if authority.startswith("["):
        return authority.partition("]")[0] + "]", "", authority.partition("]")[2].strip(",:")
    labels, colon, port = authority.partition(":")
    if is_ip(labels.strip(",")):
        return labels.strip(","), colon, port
    parts = [part for part in labels.split(",") if part]
    return ".".join(reversed(parts)), colon, port
