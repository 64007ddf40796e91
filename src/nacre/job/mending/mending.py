"""What a start has to do after the recovery: register what was salvaged, requeue what is lost.

Both were marked in the store by the recovery, and take up where they were cut off.
"""

from nacre.job.assemble import Parts
from nacre.job.mending.loss import requeue_lost
from nacre.job.mending.salvaged import register_salvaged
from nacre.store.seam import Disk


async def mend(parts: Parts, disk: Disk) -> str:
    """Do it; nothing happens where nothing is marked. The group commit must run.

    Args:
        parts: Of the opened job, from which nothing was handed out yet.
        disk: The file operations.

    Returns:
        What the operator should know; "" for nothing.

    Raises:
        StorageError: A file or the store failed; the next start does it again.
    """
    await register_salvaged(parts, disk)
    return await requeue_lost(parts, disk)
