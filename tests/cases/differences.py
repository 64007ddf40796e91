"""Where Nacre rightly answers otherwise than a row: general, named, each with its reason."""

from tests.cases.table import Difference

DIFFERENCES: list[Difference] = []
