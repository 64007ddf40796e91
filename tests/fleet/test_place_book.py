import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.place_book import PlaceBook, checked_place
from nacre.fleet.places import JobPlace, new_place, places_of


@pytest.fixture
def book(tmp_path: Path):
    with closing(ConsoleDatabase(tmp_path / "state")) as database:
        yield PlaceBook(database)


def folder(root: Path, way: str) -> Path:
    (root / way).mkdir(parents=True)
    return root / way


def add(book: PlaceBook, root: Path) -> str:
    place = checked_place(str(root), book.served(), root.stat().st_uid, book.labels)
    book.add(place)
    return place.label


def labels(places: Sequence[JobPlace]) -> dict[str, str]:
    return {place.label: place.root.parent.name for place in places}


def test_a_place_keeps_its_label_whatever_is_added_after_it(tmp_path: Path, book: PlaceBook):
    assert add(book, folder(tmp_path, "z/news")) == "news"
    assert add(book, folder(tmp_path, "a/news")) == "news-2"
    assert labels(book.served()) == {"news": "z", "news-2": "a"}
    book.remove(tmp_path / "z" / "news")
    assert labels(book.served()) == {"news-2": "a"}
    assert add(book, tmp_path / "z" / "news") == "news"


def test_a_place_of_the_start_takes_no_label_of_one_that_was_added(tmp_path: Path, book: PlaceBook):
    add(book, folder(tmp_path, "z/news"))
    named = places_of([folder(tmp_path, "a/news"), folder(tmp_path, "b/news")])
    assert labels(book.beside(named)) == {"news-2": "a", "news-3": "b", "news": "z"}
    book.serve(named)
    assert book.served() == book.beside(named)


def test_a_place_that_was_added_keeps_its_label_where_it_is_named(tmp_path: Path, book: PlaceBook):
    for way in ("z/news", "a/news"):
        add(book, folder(tmp_path, way))
    named = places_of([tmp_path / "a" / "news"])
    assert labels(book.beside(named)) == {"news-2": "a", "news": "z"}


def test_a_label_of_a_place_that_is_not_there_is_not_given_away(tmp_path: Path, book: PlaceBook):
    add(book, folder(tmp_path, "z/news"))
    (tmp_path / "z" / "news").rename(tmp_path / "gone")
    assert book.all() == []
    assert add(book, folder(tmp_path, "a/news")) == "news-2"
    (tmp_path / "gone").rename(tmp_path / "z" / "news")
    assert labels(book.served()) == {"news": "z", "news-2": "a"}


def test_places_of_an_earlier_version_are_given_their_labels_once(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "console.db", isolation_level=None)) as earlier:
        earlier.execute("CREATE TABLE places (root TEXT PRIMARY KEY) STRICT")
        for way in ("m/news", "z/news"):
            earlier.execute("INSERT INTO places VALUES (?)", (str(folder(tmp_path, way)),))
    with closing(ConsoleDatabase(tmp_path)) as database:
        book = PlaceBook(database)
        assert labels(book.served()) == {"news": "m", "news-2": "z"}
        assert add(book, folder(tmp_path, "a/news")) == "news-3"
        assert labels(book.served()) == {"news": "m", "news-2": "z", "news-3": "a"}
        assert book.labels == {"news", "news-2", "news-3"}


def test_a_job_that_was_added_is_a_place_by_itself(tmp_path: Path, book: PlaceBook):
    root = folder(tmp_path, "crawls/demo")
    (root / "crawl.yaml").write_text("")
    book.add(new_place(root, ()))
    assert book.served() == (JobPlace("crawls", root, job=True),)
