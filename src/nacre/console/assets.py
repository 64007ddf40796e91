"""The files that pages load (styles, scripts, pictures); their URLs change with their bytes."""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent / "static"
PREFIX: Final = "/static"
FOR_EVER: Final = "public, max-age=31536000, immutable"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
"""The types of the files that are served; others are not."""


class AssetFile(NamedTuple):
    """A file.

    Attributes:
        data: Its bytes.
        kind: Its media type.
        packed: Its bytes compressed by gzip; empty if that saves nothing.
    """

    data: bytes
    kind: str
    packed: bytes = b""


class Assets:
    """All files of the folder, read once.

    One hash stands for all of them, in every URL, so that scripts can import each other by relative
    names.
    """

    def __init__(self) -> None:
        self._files: dict[str, AssetFile] = {}
        self._packed = set[str]()
        digest = hashlib.sha256()
        for path in sorted(FOLDER.rglob("*")):
            kind = _TYPES.get(path.suffix)
            if kind and path.is_file():
                name, data = path.relative_to(FOLDER).as_posix(), path.read_bytes()
                self._files[name] = AssetFile(data, kind)
                digest.update(f"{name} {len(data)}\n".encode() + data)
        self._hash = digest.hexdigest()[:16]

    def url(self, name: str) -> str:
        """The URL of a file.

        Raises:
            KeyError: There is none of that name; a template is wrong.
        """
        if name not in self._files:
            raise KeyError(name)
        return f"{PREFIX}/{self._hash}/{name}"

    def find(self, tree: str, name: str) -> AssetFile | None:
        """A file by the parts of its URL; None for one that there is not, or is not any more.

        It is compressed once, at the first request.
        """
        asset = self._files.get(name) if tree == self._hash else None
        if asset is None or name in self._packed:
            return asset
        packed = gzip.compress(asset.data, mtime=0)
        if len(packed) < len(asset.data):
            asset = self._files[name] = asset._replace(packed=packed)
        self._packed.add(name)
        return asset


@cache
def assets() -> Assets:
    """The files of this process."""
    return Assets()
