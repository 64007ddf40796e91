"""A shop with filters: every combination of them, sorted and cut into pages, has its own URL.

The products are reached by the plain list too. Some links carry a session in the path.
"""

import random
from functools import cached_property
from urllib.parse import parse_qs, urlencode, urlsplit

from bench.worlds.world import Reply, html, words

_FACETS = {
    "color": ("red", "green", "blue", "black", "white"),
    "size": ("small", "medium", "large"),
    "brand": ("Acme", "Bolt", "Cirro", "Delta"),
    "material": ("wool", "silk", "linen", "cotton"),
}
_SORTS = ("price", "name", "newest")
_PAGE = 12


class Shop:
    """The application.

    Args:
        products: How many there are.
    """

    name = "faceted shop"
    start = "/"

    def __init__(self, _root: object = None, products: int = 200) -> None:
        chance = random.Random(11)
        self._products = {
            number: (
                words(chance, 3).title(),
                words(chance, 80),
                {name: chance.choice(values) for name, values in _FACETS.items()},
            )
            for number in range(1, products + 1)
        }

    @cached_property
    def truth(self) -> frozenset[str]:
        """The products."""
        return frozenset(f"/product/{number}" for number in self._products)

    def page(self, path: str) -> str:
        """Return a product, whatever follows."""
        return path.partition("?")[0]

    def reply(self, path: str) -> Reply:
        """Return a list, or a product."""
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match parts.path.strip("/").split("/"):
            case [""]:
                return _page_of("Shop", '<p><a href="/list">All products</a></p>')
            case ["list"]:
                return self._list(query)
            case ["product", number] if number.isdigit() and int(number) in self._products:
                return self._product(int(number), query)
            case _:
                return Reply(404, (("Content-Type", "text/plain"),), b"no such page\n")

    def _list(self, query: dict[str, str]) -> Reply:
        chosen = {name: query[name] for name in _FACETS if name in query}
        products = [
            (number, title)
            for number, (title, _, facets) in self._products.items()
            if all(facets[name] == value for name, value in chosen.items())
        ]
        if query.get("sort") == "name":
            products.sort(key=lambda product: product[1])
        page = int(query["page"]) if query.get("page", "1").isdigit() and "page" in query else 1
        page_products = products[(page - 1) * _PAGE : page * _PAGE]
        body = "".join(f'<li><a href="/product/{n}">{title}</a></li>' for n, title in page_products)
        more = [
            f'<a href="/list?{urlencode(query | {name: value})}">{value}</a>'
            for name, values in _FACETS.items()
            for value in values
        ]
        more += [
            f'<a href="/list?{urlencode(query | {"sort": name})}">{name}</a>' for name in _SORTS
        ]
        if page * _PAGE < len(products):
            more.append(f'<a href="/list?{urlencode(query | {"page": page + 1})}">next</a>')
        return _page_of("Products", f"<p>{' '.join(more)}</p><ul>{body}</ul>")

    def _product(self, number: int, query: dict[str, str]) -> Reply:
        title, text, facets = self._products[number]
        links = [f'<a href="/list?{name}={value}">{value}</a>' for name, value in facets.items()]
        links += [
            f'<a href="/product/{number}?{view}=1">{view}</a>'
            for view in ("print", "compare", "buy")
        ]
        likes = [number * 7 % len(self._products) + 1, number * 13 % len(self._products) + 1]
        links += [f'<a href="/product/{n}">{self._products[n][0]}</a>' for n in likes]
        note = f"<p>{next(iter(query))}</p>" if query else ""
        return _page_of(title, f"{note}<p>{text}</p><p>{' '.join(links)}</p>")


def _page_of(title: str, body: str) -> Reply:
    menu = '<p><a href="/">home</a> <a href="/list">products</a></p>'
    return html(f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1>{menu}{body}")
