"""Import the modules of units before they are forked, in the fork server of this machine.

No import may start a thread or keep a file open. A unit freezes these objects for the garbage
collector; the server does not, as duckdb would fail at its end.
"""

import gc
from importlib import import_module

from nacre.rounds.units.libraries import set_up_libraries

_START = 300_000
"""New objects before a garbage collection, while modules are imported."""
NEEDED = (
    "pyarrow.acero",
    "pyarrow.compute",
    "pyarrow.parquet",
    "uvloop",
    "nacre.rounds.storage.local",
    "nacre.rounds.units.unit_process",
    "nacre.extract.dispatch",
    "nacre.extract.html.extractor",
    "nacre.extract.pageview",
)
"""Modules that a unit imports, some of them late."""


def _import_all() -> None:
    before = gc.get_threshold()
    gc.set_threshold(_START)
    set_up_libraries()
    for name in NEEDED:
        import_module(name)
    gc.set_threshold(*before)


_import_all()
