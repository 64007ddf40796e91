"""Imports that a unit needs, made before it is forked: by the fork server of this machine, once.

Nothing here may start a thread or open a file that stays open. A unit tells the collector of
garbage that all of it lives to the end; the server does not, as duckdb would complain at its end.
"""

import gc
from importlib import import_module

from nacre.rounds.units.libraries import set_up_libraries

_START = 300_000
"""New objects before the garbage collector looks at them, while modules are imported."""
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
"""What a unit imports; some of it is imported late, by what is not always used."""


def _import_all() -> None:
    before = gc.get_threshold()
    gc.set_threshold(_START)
    set_up_libraries()
    for name in NEEDED:
        import_module(name)
    gc.set_threshold(*before)


_import_all()
