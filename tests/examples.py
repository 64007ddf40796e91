"""How many made-up examples a property is tried with where it says so itself."""

import os
from typing import Any

from hypothesis import settings

_PART = 4
_LEAST = 3
"""The first one is the simplest, such as an empty list."""


def examples(number: int, **more: Any) -> settings:
    """So many in `make test-all`, and a quarter of them, always the same ones, in `make test`."""
    tried = number if os.environ.get("NACRE_FUZZ") else max(_LEAST, number // _PART)
    return settings(max_examples=tried, deadline=None, **more)
