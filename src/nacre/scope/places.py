"""Is a URL in one of some SURT prefix sets? Most often its host alone decides."""

from collections.abc import Sequence

from nacre.uri.surt import SurtPrefixSet, scope_surt

_HOSTS = 16_384
_WEB = ("http://", "https://")


class Places:
    """Sets that may grow; answers are remembered by host.

    Args:
        sets: The sets. Whoever adds to one calls `forget`.

    Attributes:
        empty: The sets have no members.
    """

    def __init__(self, sets: Sequence[SurtPrefixSet]) -> None:
        self._sets = tuple(sets)
        # Scheme and authority -> the answer, or where paths matter the beginning of the SURT.
        self._hosts: dict[str, bool | str] = {}
        self.empty = not any(self._sets)

    def hold(self, url: str) -> bool:
        """True when the SURT of a normalised URL begins with a prefix of a set."""
        end = url.find("/", 8)
        known = self._hosts.get(url[:end])
        if known is None:
            if end < 0 or not url.startswith(_WEB):
                return self._match(scope_surt(url))
            known = self._host(url[:end])
        if known is True or known is False:
            return known
        return self._match(known + url[end:].lower())

    def forget(self) -> None:
        """A set has changed."""
        self._hosts.clear()
        self.empty = not any(self._sets)

    def _match(self, surt: str) -> bool:
        return any(prefixes.match(surt) is not None for prefixes in self._sets)

    def _host(self, where: str) -> bool | str:
        known: bool | str
        surt = scope_surt(where + "/")
        if self._match(surt):
            known = True
        elif any(prefixes.any_below(surt) for prefixes in self._sets):
            known = surt[:-1]
        else:
            known = False
        if len(self._hosts) >= _HOSTS:
            self._hosts.clear()
        self._hosts[where] = known
        return known
