"""A world: a pure function of (seed, URL, time, request) to status, headers and body."""

from urllib.parse import urlsplit

from nacre_simweb.application import application_resource
from nacre_simweb.ground import Ground
from nacre_simweb.parameters import WorldParameters
from nacre_simweb.reply import Resource, SimulatedReply
from nacre_simweb.resources import HTML, Resources
from nacre_simweb.validators import Request, Stamps, ValidatorState, http_date

_VALIDATED = frozenset({"article", "list", "home", "embed", "file", "hint", "shell"})


class World(Ground):
    """One simulated web.

    No reply depends on earlier requests; only results that can be computed again are cached.

    Args:
        parameters: What it is like.
        seed: Its seed.
    """

    def __init__(self, parameters: WorldParameters, seed: int) -> None:
        super().__init__(parameters, seed)
        self._stamps = Stamps(parameters.validators, self.draw)
        self.resources = Resources(self, self.draw)

    def respond(self, url: str, time: float, request: Request | None = None) -> SimulatedReply:
        """Return the reply to a request for a URL.

        Args:
            url: Absolute URL; its port is left out of account.
            time: Time of the world, seconds.
            request: What the request says; None for a plain first one.
        """
        asked_request = request or Request()
        parts = urlsplit(url)
        name, host = parts.hostname or "", self.site.host_number(parts.hostname or "")
        origin = f"http://{parts.netloc}"
        path = parts.path or "/"
        plain = f"http://{name}{path}" + (f"?{parts.query}" if parts.query else "")
        resource = self._resource(host, origin, path, parts.query, time)
        headers = [("Date", http_date(time)), *_typed(resource, asked_request.nonce)]
        if resource.location:
            headers.append(("Location", resource.location))
        if resource.status == 503:
            headers.append(("Retry-After", "600"))
        if resource.status != 200 or resource.kind not in _VALIDATED:
            return SimulatedReply(plain, resource, resource.status, headers, asked_request.nonce)
        return self._validated(plain, host, resource, time, asked_request, headers)

    def _resource(self, host: int, origin: str, path: str, query: str, time: float) -> Resource:
        if not self.parameters.shape.app:
            return self.resources.find(host, origin, path, query, time)
        find = self.resources.find
        return application_resource(
            path, origin, HTML, lambda inner: find(host, origin, inner, query, time)
        )

    def _validated(
        self,
        url: str,
        host: int,
        resource: Resource,
        time: float,
        request: Request,
        headers: list[tuple[str, str]],
    ) -> SimulatedReply:
        mode = self._stamps.mode(host)
        if mode == "none":
            return SimulatedReply(url, resource, 200, headers, request.nonce)
        state = ValidatorState(url, resource.mark, resource.since)
        headers += self._stamps.headers(mode, state, time, request.nonce)
        same = self._stamps.unchanged(mode, state, request)
        return SimulatedReply(url, resource, 304 if same else 200, headers, request.nonce)


def _typed(resource: Resource, nonce: int) -> list[tuple[str, str]]:
    """What a reply says of its type, charset and coding."""
    if resource.form is None:
        return [("Content-Type", resource.mime)]
    form = resource.form(nonce)
    typed = ("Content-Type", f"{resource.mime.partition(';')[0]}; charset={form.charset}")
    return [typed, ("Content-Encoding", form.coding)] if form.coding else [typed]
