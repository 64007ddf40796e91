"""Places of differences."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nacre.job.holdings.expandedplaces import Place, Places


@given(st.lists(st.lists(st.integers(0, 40), max_size=6), max_size=5))
def test_each_is_found_in_every_file_that_holds_it_the_latest_first(files: list[list[int]]):
    places, wanted = Places(), dict[int, list[Place]]()
    for number, names in enumerate(files):
        path = Path(f"{number}.warc")
        places.begin(path)
        for at, name in enumerate(dict.fromkeys(names)):
            places.add(f"urn:uuid:{name}", at)
            wanted.setdefault(name, []).insert(0, Place(path, at))
    for name in range(41):
        assert list(places.find(f"urn:uuid:{name}")) == wanted.get(name, [])
