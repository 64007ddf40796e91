"""`nacre run --checkpoint`: the store as it was."""

from pathlib import Path

from nacre.cli.output import shown, tell
from nacre.errors import JobError
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.store.checkpoint import checkpoints, restore_checkpoint
from nacre.store.disk import RealDisk

_LASTING = ("files", "epoch", "warc.serial", "warc.total")


def restore(layout: Layout, settings: JobSettings, name: str) -> None:
    """Put a checkpoint in the place of the store of a stopped job.

    Raises:
        JobError: There is none of that name, or the job is running.
        StorageError: It cannot be put there.
    """
    names = checkpoints(str(layout.checkpoints))
    if name == "latest" and names:
        name = names[-1]
    if name not in names:
        known = ", ".join(names) or "none yet; `nacre checkpoint` makes one"
        raise JobError(f"there is no checkpoint {name!r} of {layout.root}; there are: {known}")
    former = restore_checkpoint(
        RealDisk(),
        str(layout.checkpoints / name),
        str(layout.store),
        lasting=_LASTING,
        memory=settings.store.memory,
    )
    tell(f"went back to checkpoint {name}; the store until now is in {shown(Path(former))}")
