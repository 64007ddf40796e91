"""ETag and Last-Modified, honest and not, and what a conditional request gets."""

from email.utils import formatdate
from functools import lru_cache
from typing import NamedTuple

from nacre_simweb.calendar import START
from nacre_simweb.draw import Draw
from nacre_simweb.parameters import ValidatorMode, Validators


class Request(NamedTuple):
    """The parts of a request that matter to a world.

    Attributes:
        nonce: How many requests of this URL came before: what noise is drawn by.
        etag: If-None-Match as sent; "" for none.
        modified: If-Modified-Since as sent; "" for none.
    """

    nonce: int = 0
    etag: str = ""
    modified: str = ""


class ValidatorState(NamedTuple):
    """The state of a page that its validators are made from.

    Attributes:
        name: The resource.
        mark: Changes when its bytes do, noise apart.
        since: Time of the last such change, seconds.
    """

    name: str
    mark: str
    since: float


class Stamps:
    """The validators of each host.

    Args:
        settings: The modes and their weights.
        draw: Random numbers of the world.
    """

    def __init__(self, settings: Validators, draw: Draw) -> None:
        self._settings = settings
        self._draw = draw.at("validators")

    def mode(self, host: int) -> ValidatorMode:
        """Return the way in which a host sends validators."""
        return self._draw.at("host", host).weighted(self._settings.modes)

    def headers(
        self, mode: ValidatorMode, state: ValidatorState, time: float, nonce: int
    ) -> list[tuple[str, str]]:
        """Return the validators of a reply."""
        fields: list[tuple[str, str]] = []
        etag = self._etag(mode, state, nonce)
        if etag:
            fields.append(("ETag", etag))
        if mode in {"both", "modified", "never"}:
            fields.append(("Last-Modified", http_date(state.since)))
        elif mode == "now":
            fields.append(("Last-Modified", http_date(time)))
        return fields

    def _etag(self, mode: ValidatorMode, state: ValidatorState, nonce: int) -> str:
        match mode:
            case "both" | "etag" | "never":
                return f'"{self._draw.at("tag", state.name, state.mark).hex(16)}"'
            case "node":
                return f'"{nonce % 2}-{self._draw.at("tag", state.name, state.mark).hex(16)}"'
            case "stable":
                return f'W/"{self._draw.at("tag", state.name).hex(16)}"'
            case _:
                return ""

    def unchanged(self, mode: ValidatorMode, state: ValidatorState, request: Request) -> bool:
        """The reply is 304. If-None-Match goes before If-Modified-Since (RFC 9110, 13.2.2)."""
        if mode in {"never", "now", "none"}:
            return False
        etag = self._etag(mode, state, request.nonce)
        if request.etag and etag:
            return request.etag == etag
        return bool(request.modified) and request.modified == http_date(state.since)


def http_date(time: float) -> str:
    """Return a time of the world as headers have it."""
    return _formatted(int(START + time))


@lru_cache(maxsize=65_536)
def _formatted(seconds: int) -> str:
    return formatdate(seconds, usegmt=True)
