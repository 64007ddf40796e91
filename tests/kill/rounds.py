"""The driver that is killed: it fetches a segment of two units.

    python -m tests.kill.rounds DIRECTORY

It writes `done` when the segment is committed.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from nacre.machine.layout import Layout
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.steps.fetch import FetchOptions, fetch
from nacre.rounds.tables.versions import Cycle
from nacre.settings.settings import JobSettings
from tests.rounds.lists import CLOCK, SEGMENT, settings


@dataclass(frozen=True)
class KilledDriver:
    """A `FetchContext`."""

    layout: Layout
    settings: JobSettings
    cycle: Cycle
    engine: LocalEngine
    clock: int = CLOCK

    def tell(self, _what: str, _numbers: object) -> None:
        """Ignore the progress."""


def main() -> None:
    root = Path(sys.argv[1])
    driver = KilledDriver(Layout(root), settings(), Cycle.open(root), LocalEngine(2))
    try:
        fetch(driver, SEGMENT, FetchOptions(slice=0.7))
    finally:
        driver.engine.close()
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
