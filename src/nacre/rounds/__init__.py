"""Batch rounds: inject, generate, fetch, update, again and again, over tables of files.

How to read it: `storage` keeps named files, on a local disk or in a bucket. `tables/versions.py`
defines which of them are the state: a version is one JSON file, created exclusively, that lists
manifests, segments and archive. `tables/tables.py` has the files of a table and how a task makes
one; `engine` runs tasks on this machine or on Spark. `segments` has the lists and their fetch
results, `units` the processes that fetch, `visits` the jobs of these processes. Steps (`steps`)
consist of tasks, rounds of steps (`runner.py`); `nacre.crawldb` defines what a row means.
`nacre crawl` imports nothing from this package.
"""

import sys
from importlib import import_module
from types import ModuleType


class _CallableModule(ModuleType):
    """This package can be called: `nacre.rounds(directory)` is a function of the Python API, too.

    The import of the package puts it into the place of that function in `nacre`.
    """

    def __call__(self, directory: object) -> object:
        """Open a batch crawl; see `nacre.ops.handles.rounds`."""
        return import_module("nacre.ops.handles").rounds(directory)


sys.modules[__name__].__class__ = _CallableModule
