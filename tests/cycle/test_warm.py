"""What is imported before a unit is forked: all that it needs."""

from pathlib import Path

from tests.cli.site import many_pages, site
from tests.cycle.lists import Unit, segment, spec

BEFORE = """
import atexit, sys
import nacre.cycle.warm
known = set(sys.modules)
atexit.register(lambda: print("NEW", *sorted(set(sys.modules) - known), file=open({path!r}, "w")))
"""


def test_a_unit_imports_next_to_nothing_more(tmp_path: Path):
    path = str(tmp_path / "new")
    with site(many_pages(4)) as home:
        segment(tmp_path, [[f"{home}p{number}.html" for number in range(4)]])
        assert Unit(spec(tmp_path), before=BEFORE.format(path=path)).result().done
    new = [name for name in Path(path).read_text().split()[1:] if not name.startswith("encodings")]
    assert len(new) < 5, " ".join(new)
