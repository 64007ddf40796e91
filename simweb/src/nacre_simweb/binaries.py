"""Embeds and attachments: bytes of a known length that change when the world says so."""

from bisect import bisect_right

from nacre_simweb.draw import Draw
from nacre_simweb.ground import Ground
from nacre_simweb.names import Names, Target
from nacre_simweb.page import SimulatedPage
from nacre_simweb.render import Renderer
from nacre_simweb.reply import Resource
from nacre_simweb.site import Article

_MIMES = ("text/css", "text/javascript", "image/png")
_BLOCK = 4096
_SPREAD = 0.5


class Binaries:
    """The files of a world that are not pages."""

    def __init__(self, world: Ground, names: Names, renderer: Renderer, draw: Draw) -> None:
        self._world = world
        self._names = names
        self._renderer = renderer
        self._draw = draw.at("binaries")
        self._sizes: dict[tuple[tuple[int, Target], int], int] = {}

    def find(self, host: int, target: Target, time: float) -> Resource | None:
        """Return an embed or attachment; None: there is none."""
        shape = self._world.parameters.shape
        if target.kind == "shared":
            if target.serial >= shape.shared_embeds:
                return None
            changes = self._world.templates[host] if target.serial == 0 else ()
            mime = _MIMES[target.serial % 3]
            return self._file("embed", (host, target), changes, time, mime, shape.embed_bytes)
        article = self._world.site.article(host, target.serial)
        if article is None or not self._there(article, time):
            return None
        life = self._world.lives.of(article)
        if target.kind == "image" and target.part < shape.own_embeds:
            changes = life.images if target.part == 0 else ()
            size = shape.embed_bytes
            return self._file("embed", (host, target), changes, time, "image/jpeg", size)
        if target.kind == "file" and self._renderer.has_file(article):
            size = shape.attachment_bytes
            mime = "application/pdf"
            return self._file("file", (host, target), life.documents, time, mime, size)
        return None

    def _there(self, article: Article, time: float) -> bool:
        """Return whether a file exists: files are not deleted with their article."""
        return article.born <= time

    def _size(self, name: tuple[int, Target], version: int, mean: int) -> int:
        """Bytes of a version, shrunk."""
        size = self._sizes.get((name, version))
        if size is None:
            spread = 1 + _SPREAD * (2 * self._draw.at(*name, version).uniform() - 1)
            size = max(round(mean * spread * self._world.parameters.bytes_scale), 64)
            self._sizes[name, version] = size
        return size

    def _file(
        self,
        kind: str,
        name: tuple[int, Target],
        changes: tuple[float, ...],
        time: float,
        mime: str,
        mean: int,
    ) -> Resource:
        version = bisect_right(changes, time)
        size = self._size(name, version, mean)
        since = changes[version - 1] if version else 0.0

        def make(_: int) -> SimulatedPage:
            text = mime.startswith("text/")
            block = self._draw.at(*name, version).bytes(min(size, _BLOCK))
            if text:
                block = f"/* {block.hex()} */\n".encode()
            return SimulatedPage((block * (size // len(block) + 1))[:size])

        return Resource(kind, 200, version, str(version), since, mime, make, size=size)
