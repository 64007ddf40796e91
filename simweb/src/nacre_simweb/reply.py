"""The reply of a world. The body is made when it is asked for."""

from collections.abc import Callable
from typing import NamedTuple

from nacre_simweb.coding import PLAIN, BodyCoding
from nacre_simweb.page import SimulatedLink, SimulatedPage


class Resource(NamedTuple):
    """A resource at a moment, before anything is rendered.

    Attributes:
        kind: `article`, `list`, `embed`, `file`, `hint`, `robots`, `trap`, `error`, `shell` or
            `none`.
        status: HTTP status; 0 for no reply at all.
        version: Number of its real version; -1 if that means nothing.
        mark: Changes when its bytes do, noise apart.
        since: Time of the last such change, seconds.
        mime: Content-Type.
        noisy: Its bytes differ from reply to reply.
        stable: Its length and links do not.
        location: Target of a redirect.
        make: Makes the body; given the number of the request.
        noise: What of the body follows from that number; () for nothing.
        size: Length of the body in bytes where it is known beforehand; -1 if not.
        form: How a reply travels, by its number; None if all travel plainly.
    """

    kind: str
    status: int
    version: int
    mark: str
    since: float
    mime: str
    make: Callable[[int], SimulatedPage]
    noise: Callable[[int], tuple[object, ...]] | None = None
    stable: bool = True
    location: str = ""
    size: int = -1
    form: Callable[[int], BodyCoding] | None = None


class SimulatedReply:
    """A reply of a simulated server.

    Attributes:
        status: HTTP status; 304 included; 0 for no reply at all.
        headers: Names and values, without those of the transfer.
        resource: What the URL is.
        url: Of what, without its port.
        nonce: Number of the request.
    """

    __slots__ = ("_page", "headers", "nonce", "resource", "status", "url")

    def __init__(
        self, url: str, resource: Resource, status: int, headers: list[tuple[str, str]], nonce: int
    ) -> None:
        self.url = url
        self.resource = resource
        self.status = status
        self.headers = headers
        self.nonce = nonce
        self._page: SimulatedPage | None = None

    @property
    def page(self) -> SimulatedPage:
        """Body and links, rendered once."""
        if self._page is None:
            self._page = self.resource.make(self.nonce)
        return self._page

    @property
    def form(self) -> BodyCoding:
        """The coding of the reply."""
        return self.resource.form(self.nonce) if self.resource.form else PLAIN

    @property
    def entity(self) -> bytes:
        """The body as it would travel, were this no 304."""
        body, form = self.page.body, self.form
        return body if form is PLAIN else form.encoded(body)

    @property
    def body(self) -> bytes:
        """The body as it travels; b"" of a 304."""
        return b"" if self.status == 304 else self.entity

    @property
    def text(self) -> bytes:
        """The body as it was made, in UTF-8; b"" of a 304."""
        return b"" if self.status == 304 else self.page.body

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for replies of equal bodies, and only for them, without rendering any."""
        resource = self.resource
        noise = resource.noise(self.nonce) if resource.noise else ()
        name = "" if resource.kind == "error" else self.url
        return name, resource.kind, resource.mark, noise, self.form

    def header(self, name: str) -> str:
        """Value of a header; "" when absent."""
        return next((value for key, value in self.headers if key == name), "")


def redirect_links(target: str) -> tuple[SimulatedLink, ...]:
    """Return the link that a redirect is."""
    return (SimulatedLink(target, "R"),)
