"""Go back to a checkpoint."""

from typing import TYPE_CHECKING, Final

from nacre.errors import JobError
from nacre.messages import message

if TYPE_CHECKING:
    from nacre.settings.settings import JobSettings
    from nacre.store.layout import Layout

_LASTING: Final = ("files", "epoch", "warc.serial", "warc.total")
"""Values of the store that a checkpoint does not set back."""


def restore(layout: "Layout", settings: "JobSettings", name: str) -> tuple[str, str]:
    """Put a checkpoint in the place of the store of a stopped job.

    Args:
        layout: Directories of the job.
        settings: Its settings.
        name: Name of the checkpoint; `latest` for the last one.

    Returns:
        The name of the checkpoint, and the path of the former store.

    Raises:
        JobError: There is no checkpoint of that name, or the job is running.
        StorageError: The checkpoint cannot be put there.
    """
    from nacre.store.checkpoint import checkpoints, restore_checkpoint
    from nacre.store.disk import RealDisk

    names = checkpoints(str(layout.checkpoints))
    if name == "latest" and names:
        name = names[-1]
    if name not in names:
        known = ", ".join(names) or "none yet; `nacre checkpoint` makes one"
        raise JobError(
            message(
                "ops.no-checkpoint",
                "there is no checkpoint {name!r} of {root}; there are: {names}",
                name=name,
                root=layout.root,
                names=known,
            )
        )
    folder, memory = str(layout.checkpoints / name), settings.store.memory
    former = restore_checkpoint(
        RealDisk(), folder, str(layout.store), lasting=_LASTING, memory=memory
    )
    return name, str(former)
