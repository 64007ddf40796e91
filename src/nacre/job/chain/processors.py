"""All processors of Nacre, so that configurations can name them."""

from nacre.job.chain import binaries, content, links, mapping, rescheduling, stock
from nacre.job.chain.table import PROCESSORS

__all__ = ["PROCESSORS", "binaries", "content", "links", "mapping", "rescheduling", "stock"]
