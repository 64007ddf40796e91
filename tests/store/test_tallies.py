from pathlib import Path

from nacre.frontier.quota import Usage
from nacre.store.store import Store
from nacre.store.tallies import Tallies


def test_rows_are_kept_and_found_again(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "s")) as store:
        book = Tallies(store, b"qh:", Usage, capacity=2)
        for name in "abcd":
            book[name].responses += ord(name)
        book.seal()
        assert not book
        book["a"].responses += 1
        assert book.look("a").responses == ord("a") + 1
        assert book.look("z") == Usage()
        book.seal()
        store.commit()
    with Store.open(str(tmp_path / "s")) as store:
        fresh = Tallies(store, b"qh:", Usage)
        assert [(name, row.responses) for name, row in fresh.rows()] == [
            ("a", 98), ("b", 98), ("c", 99), ("d", 100),
        ]  # fmt: skip
        assert fresh.look("d").responses == 100
        assert not fresh
