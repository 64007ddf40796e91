"""The work folder of units on a machine: in the job, of `cycle.scratch`, or temporary."""

import os
import tempfile
from hashlib import blake2b
from pathlib import Path

from nacre.errors import ConfigError, Problem
from nacre.machine.layout import Layout

_SETTING = "cycle.scratch"


def temporary_folder(storage: str) -> Path:
    """The folder in the temporary folder of this machine.

    Args:
        storage: Place of the cycle's storage.
    """
    return _of_storage(Path(tempfile.gettempdir()) / f"units-of-nacre-{os.getuid()}", storage)


def folder_of_units(layout: Layout, scratch: str, storage: str, *, local: bool) -> str:
    """Return the folder of the units of a job; "" for the temporary folder of each machine.

    Args:
        layout: The directory of the job.
        scratch: The setting `cycle.scratch`; "" for none.
        storage: Place of the cycle's storage.
        local: The units run on this machine.
    """
    if scratch:
        return str(_of_storage(layout.root / scratch, storage))
    return str(layout.state / "units") if local else ""


def require_scratch(layout: Layout, scratch: str) -> None:
    """Check that units of this machine can work in the folder of `cycle.scratch`.

    Args:
        layout: The directory of the job.
        scratch: The setting `cycle.scratch`; "" for none.

    Raises:
        ConfigError: It is no directory, cannot be made, or is closed to this user.
    """
    if not scratch:
        return
    place = layout.root / scratch
    expected = "a directory that you may write into, or none for `state/units` of the job"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "is no directory" if place.exists() else f"cannot be made: {error.strerror}"
        raise ConfigError([Problem(_SETTING, f"{place} {reason}", expected)]) from None
    if not os.access(place, os.W_OK | os.X_OK):
        raise ConfigError([Problem(_SETTING, f"{place} is closed to you", expected)])


def _of_storage(folder: Path, storage: str) -> Path:
    """The part of a folder for one storage: several crawls may have the folder in common."""
    return folder / blake2b(storage.encode(), digest_size=8).hexdigest()
