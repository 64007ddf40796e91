"""All processors of Nacre, so that configurations can name them."""

from nacre.job.chain import content, links, mapping, rescheduling, stock
from nacre.job.chain.table import PROCESSORS

__all__ = ["PROCESSORS", "content", "links", "mapping", "rescheduling", "stock"]
