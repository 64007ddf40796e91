"""In which encoding the pages of a host are, for those of its pages that do not say."""

from collections import OrderedDict

from nacre.core.charsets import COMMON
from nacre.uri.parse import authority

_DECLARED = frozenset(("bom", "header", "meta", "xml"))
_HOSTS = 4096


class HostCharsets:
    """What the pages of a host declare; of so many hosts as were met last."""

    def __init__(self, limit: int = _HOSTS) -> None:
        self._limit = limit
        self._known: OrderedDict[str, str] = OrderedDict()

    def of(self, url: str) -> str:
        """The codec that the last page of its host declared; "" where it is a common one."""
        return self._known.get(authority(url), "") if self._known else ""

    def learn(self, url: str, codec: str, source: str) -> None:
        """Note what a page was read in; only what it declares itself counts."""
        if source not in _DECLARED or (not self._known and codec in COMMON):
            return
        name = authority(url)
        if codec in COMMON:
            self._known.pop(name, None)
            return
        self._known[name] = codec
        self._known.move_to_end(name)
        if len(self._known) > self._limit:
            self._known.popitem(last=False)
