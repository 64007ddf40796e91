"""`make cases`: every table alone, one line each, then the totals."""

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Iterator

from tests.cases import tables
from tests.cases.differences import DIFFERENCES
from tests.cases.table import Result, Table, cases_folder, run_table


def all_tables() -> Iterator[Table]:
    """Every table of `tests/cases/tables`, by name."""
    for module in sorted(pkgutil.iter_modules(tables.__path__), key=lambda m: m.name):
        loaded = importlib.import_module(f"tests.cases.tables.{module.name}")
        found = getattr(loaded, "TABLES", None)
        yield from found if found is not None else [loaded.TABLE]


def main() -> int:
    """Run the tables named on the command line, or all; 1 when a row failed."""
    parser = argparse.ArgumentParser(prog="make cases", description=__doc__)
    parser.add_argument("tables", nargs="*", help="names of tables; all when none is given")
    parser.add_argument("--verbose", "-v", action="store_true", help="print each failed row")
    options = parser.parse_args()
    folder = cases_folder()
    if not folder.is_dir():
        sys.stdout.write(f"no tables: {folder} is absent; name their folder with NACRE_CASES\n")
        return 0
    total = Result("total")
    for table in all_tables():
        if options.tables and table.name not in options.tables:
            continue
        try:
            result = run_table(table, DIFFERENCES, folder)
        except FileNotFoundError as error:
            sys.stdout.write(f"{table.name:28} skipped: {error.filename} is absent\n")
            continue
        sys.stdout.write(result.line() + "\n")
        if options.verbose:
            for name, count in sorted(result.decided.items()):
                sys.stdout.write(f"    decided: {name} {count}\n")
            for name, count in sorted(result.unsupported.items()):
                sys.stdout.write(f"    unsupported: {name} {count}\n")
            for row, answer in result.failed:
                sys.stdout.write(f"    FAILED {row}: {answer}\n")
        total.add(result)
    sys.stdout.write(total.line() + "\n")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
