"""A site as ASP.NET makes it without cookies: each request without a session gets a new one."""

import random
import re
from functools import cached_property

from bench.worlds.world import Reply, html, words

_SESSION = re.compile(r"/\(S\((\w+)\)\)(/.*)")


class Sessions:
    """The application.

    Args:
        pages: How many there are.
    """

    name = "sessions"
    start = "/"

    def __init__(self, _root: object = None, pages: int = 50) -> None:
        chance = random.Random(9)
        self._pages = {f"/page/{n}.aspx": words(chance, 90) for n in range(pages)}
        self._given = 0

    @cached_property
    def truth(self) -> frozenset[str]:
        """The pages, without sessions."""
        return frozenset(self._pages)

    def page(self, path: str) -> str:
        """Return the page that a URL with a session shows."""
        match = _SESSION.fullmatch(path)
        return match[2] if match else ""

    def reply(self, path: str) -> Reply:
        """A page, with links that lose the session; or the way to one, with a new session."""
        match = _SESSION.fullmatch(path)
        bare = match[2] if match else path
        if bare == "/":
            return html('<title>Home</title><a href="/page/0.aspx">enter</a>')
        if bare not in self._pages:
            return Reply(404, (("Content-Type", "text/plain"),), b"no such page\n")
        self._given += 1
        fresh = random.Random(self._given).getrandbits(120)
        session = f"/(S({fresh:024x}))"
        if match is None:
            return Reply(302, (("Location", session + path),), b"")
        number = int(re.findall(r"\d+", bare)[0])
        targets = (f"/page/{(number * 2 + more) % len(self._pages)}.aspx" for more in (1, 2))
        links = "".join(f'<a href="{session}{target}">{target}</a> ' for target in targets)
        return html(f"<title>{bare}</title><p>{self._pages[bare]}</p>{links}")
