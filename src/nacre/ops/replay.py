"""Replay by pywb, as a neighbour: a temporary collection over the files of an archive."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from nacre.catalogue.holdings import WACZ, Holding, WarcPlace, open_holding
from nacre.core.message_data import to_json
from nacre.errors import JobError
from nacre.messages import message

COLLECTION: Final = "archive"
"""Name of the collection of pywb."""
_PROGRAM: Final = "wayback"


def find_pywb() -> Path:
    """Return the server program of pywb, beside this interpreter or on PATH.

    Raises:
        JobError: There is none; the message has the command that installs it.
    """
    own = Path(sys.executable).parent / _PROGRAM
    path = str(own) if own.is_file() else shutil.which(_PROGRAM)
    if path is None:
        raise JobError(
            message(
                "replay.no-pywb",
                "pywb is not installed here: there is no program `wayback` on PATH. Install it "
                "(`pipx install pywb`), or leave `--with pywb` out for Nacre's own replay",
            )
        )
    return Path(path)


def pywb_config(places: Sequence[WarcPlace]) -> bytes:
    """Return the configuration of pywb for some WARCs with their indexes (pure).

    JSON is YAML, so it is `config.yaml`. Files that are still written are left out: their index is
    not sorted.

    Args:
        places: The WARCs.
    """
    closed = [place for place in places if not place.is_open and place.index is not None]
    folders = sorted({f"{place.path.parent}/" for place in closed})
    indexes = sorted({str(place.index) for place in closed})
    groups = {f"index{number}": index for number, index in zip(count(), indexes, strict=False)}
    collection = {"index_group": groups, "archive_paths": folders}
    settings = {
        "collections": {COLLECTION: collection}, "framed_replay": True, "enable_auto_fetch": False,
    }  # fmt: skip
    return to_json(settings)


def _warcs(holding: Holding) -> Iterator[WarcPlace]:
    for member in holding.members:
        if member.kind == WACZ:
            raise JobError(
                message(
                    "replay.pywb-wacz",
                    "pywb reads no WACZ files: {path}. Leave `--with pywb` out for Nacre's replay",
                    path=member.root,
                )
            )
        yield from member.warcs()


def run_pywb(targets: Sequence[str | Path], port: int, tell: Callable[[str], None]) -> int:
    """Run pywb over an archive until Ctrl-C.

    Args:
        targets: See `open_holding`.
        port: The port on the loopback.
        tell: Receives lines for people.

    Returns:
        Its exit code; 0 after Ctrl-C.

    Raises:
        JobError: It is not installed, or cannot read such files.
    """
    program = find_pywb()
    config = pywb_config(list(_warcs(open_holding(targets))))
    with TemporaryDirectory(prefix="nacre-pywb-") as folder:
        (Path(folder) / "config.yaml").write_bytes(config)
        tell(f"pywb on http://localhost:{port}/{COLLECTION}/ (Ctrl-C ends it)")
        arguments = [str(program), "-p", str(port), "-b", "127.0.0.1", "-d", folder]
        process = subprocess.Popen(arguments, cwd=folder)  # noqa: S603 - a program of the operator
        try:
            return process.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            process.terminate()
            process.wait()
