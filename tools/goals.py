"""Writes the table of docs/simulated-goals.md from docs/goals.json.

    python -m tools.goals           write it
    python -m tools.goals --check   say whether it is current

`make goals` measures first: docs/goals.json is what `nacre simweb goals` wrote.
"""

import sys
from pathlib import Path

import msgspec

from nacre_simweb.goaltable import GoalFigures, into

ROOT = Path(__file__).resolve().parent.parent
FIGURES, PAGE = ROOT / "docs" / "goals.json", ROOT / "docs" / "simulated-goals.md"


def page() -> str:
    """Return the page as it should be."""
    figures = msgspec.json.decode(FIGURES.read_bytes(), type=GoalFigures)
    return into(PAGE.read_text("utf-8"), figures)


def main() -> int:
    """Write the page, or check it."""
    current = page()
    if "--check" in sys.argv:
        return int(PAGE.read_text("utf-8") != current)
    PAGE.write_text(current, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
