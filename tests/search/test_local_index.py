"""The embedded index: what is found, in which order, after adds, updates and deletes."""

import pytest

from nacre.errors import JobError, NacreError, StorageError
from nacre.search.document import SearchDocument, place_document
from nacre.search.local_index import LocalSearch, LocalWriter, SearchOptions, rebuild_reason
from nacre.search.query import parse_query

DAY = 86_400_000


def document(url: str, content: str = "", **more) -> SearchDocument:
    said = {"type": "text/html", "lang": "en", "tstamp": 1_767_225_600_000, **more}
    return place_document(SearchDocument(id=url, url=url, content=content, **said))


@pytest.fixture
def folder(tmp_path):
    writer = LocalWriter(tmp_path / "search")
    assert writer.open()
    writer.write(
        [
            document("http://www.a.test/1", "国家图书馆是国家总书库", lang="zh-cn", title="图书"),
            document("http://a.test/2", "the quick brown fox", type="application/pdf"),
            document("http://b.test/3", "a fox that is brown", rest="menu", boost=9.0),
            document("http://b.test/4", "Python语言", tstamp=1_767_225_600_000 + 40 * DAY),
        ]
    )
    writer.commit()
    writer.close()
    return tmp_path / "search"


def found(folder, text, **options):
    answer = LocalSearch(folder).search(parse_query(text), SearchOptions(**options))
    return [hit.document.id.rpartition("/")[2] for hit in answer.hits]


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("国家图书馆", "1"),
        ("馆", "1"),
        ("图馆", ""),
        ('"brown fox"', "2"),
        ("brown fox", "32"),
        ("fox -quick", "3"),
        ("quick OR 语言", "24"),
        ("python语", "4"),
        ("menu", "3"),
        ("content:menu", "3"),
        ("title:图书", "1"),
        ("title:国家", ""),
        ("site:a.test", "12"),
        ("site:www.a.test", "1"),
        ("host:a.test", "2"),
        ("type:pdf", "2"),
        ("type:application/pdf", "2"),
        ("lang:zh", "1"),
        ("lang:zh-cn", "1"),
        ("-fox", "14"),
        ("date:2026-02", "4"),
        ("before:2026-02 fox", "23"),
        ("after:2026-02", ""),
        ("url:a.test", "12"),
        ('id:"http://b.test/3"', "3"),
    ],
)
def test_what_is_found(folder, text, hits):
    assert sorted(found(folder, text)) == sorted(hits)


def test_the_order_is_by_words_and_importance_or_by_time(folder):
    assert found(folder, "fox")[0] == "3"
    assert found(folder, "-site:c.test", newest=True)[0] == "4"
    assert len(found(folder, "fox", limit=1, offset=1)) == 1
    assert found(folder, "fox", limit=0) == []


@pytest.mark.parametrize(
    ("text", "newest", "by_time"),
    [
        ("fox", False, False),
        ("fox", True, True),
        ("site:b.test", False, True),
        ("-fox", False, True),
    ],
)
def test_pages_that_were_not_looked_for_by_words_come_by_time(folder, text, newest, by_time):
    answer = LocalSearch(folder).search(parse_query(text), SearchOptions(newest=newest))
    assert answer.by_time is by_time
    times = [hit.document.tstamp for hit in answer.hits]
    assert not by_time or times == sorted(times, reverse=True)
    assert all((hit.score == hit.document.tstamp) is by_time for hit in answer.hits)


def test_facets_are_counted(folder):
    options = SearchOptions(facets=("site", "type", "lang"))
    answer = LocalSearch(folder).search(parse_query("-zzz"), options)
    assert answer.total == 4
    assert dict(answer.facets["site"]) == {"a.test": 2, "b.test": 2}
    assert dict(answer.facets["type"]) == {"html": 3, "pdf": 1}
    assert dict(answer.facets["lang"])["zh"] == 1


def test_a_document_replaces_the_one_with_its_id_and_one_can_be_removed(folder):
    writer = LocalWriter(folder)
    assert not writer.open()
    writer.write([document("http://a.test/2", "a slow cat")])
    writer.delete(["http://b.test/3", "http://nowhere.test/"])
    writer.close()
    assert len(found(folder, "fox")) == 2, "nothing was committed"
    writer.open()
    writer.write([document("http://a.test/2", "a slow cat")])
    writer.delete(["http://b.test/3"])
    writer.commit()
    writer.close()
    assert found(folder, "fox") == []
    assert found(folder, "cat") == ["2"]


def test_a_rebuilt_index_takes_the_place_of_the_old_one_at_its_commit(folder):
    writer = LocalWriter(folder)
    assert writer.open(rebuild=True)
    writer.write([document("http://c.test/9", "fox")])
    assert len(found(folder, "fox")) == 2
    writer.commit()
    assert found(folder, "fox") == ["9"]
    writer.write([document("http://c.test/8", "fox")])
    writer.commit()
    writer.close()
    assert sorted(found(folder, "fox")) == ["8", "9"]


def test_a_second_writer_and_a_missing_index_are_told(folder, tmp_path):
    writer = LocalWriter(folder)
    writer.open()
    with pytest.raises(StorageError, match="another command writes this index"):
        LocalWriter(folder).open()
    writer.close()
    with pytest.raises(JobError, match="there is no index"):
        LocalSearch(tmp_path / "nowhere")


def test_a_score_is_explained(folder):
    def explained(text):
        answer = LocalSearch(folder).search(parse_query(text), SearchOptions(explain=True))
        return {hit.document.id.rpartition("/")[2]: hit for hit in answer.hits}

    (one,) = explained("图书 lang:zh -quick").values()
    assert [(part.words, part.field) for part in one.parts] == [
        ("图书", "title"),
        ("图书", "content"),
    ]
    title, content = (part.value for part in one.parts)
    assert one.score == pytest.approx((title + 0.2 * content) * one.factor, rel=1e-5)
    pages = explained("brown OR 语言")
    assert [part.words for part in pages["4"].parts] == ["语言"]
    assert pages["2"].factor == pytest.approx(one.factor, rel=1e-5), "of the same importance"
    assert pages["3"].factor > pages["2"].factor
    assert explained("menu")["3"].parts[0].field == "rest"
    assert explained("lang:zh")["1"].parts == ()
    usual = LocalSearch(folder).search(parse_query("brown"))
    assert usual.hits[0].parts == ()


def test_an_index_is_made_anew_by_one_command_at_a_time(folder):
    first = LocalWriter(folder)
    first.open(rebuild=True)
    first.write([document("http://a.test/new", "fox")])
    with pytest.raises(StorageError, match="another command writes this index"):
        LocalWriter(folder).open(rebuild=True)
    first.commit()
    first.close()
    assert found(folder, "fox") == ["new"]
    second = LocalWriter(folder)
    second.open()
    second.close()


@pytest.mark.parametrize("name", ["meta.json", "*.store", "*.term"])
def test_a_damaged_index_says_how_it_is_made_anew(folder, name):
    for path in folder.glob(name):
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(NacreError, match=r"search.* `index --rebuild` makes it again"):
        found(folder, "fox")
    writer = LocalWriter(folder)
    assert writer.open(rebuild=True)
    writer.write([document("http://a.test/new", "fox")])
    writer.commit()
    writer.close()
    assert found(folder, "fox") == ["new"]


def test_an_index_of_another_analysis_is_to_be_built_again(tmp_path):
    place = tmp_path / "search"
    assert rebuild_reason(place) == ""
    writer = LocalWriter(place)
    writer.open()
    writer.write([SearchDocument(id="a", content="text")])
    writer.commit()
    writer.close()
    assert rebuild_reason(place) == ""
    (place / "analysis").unlink()  # as versions before had none
    assert "index --rebuild" in rebuild_reason(place)
    writer = LocalWriter(place)
    writer.open()
    writer.commit()
    writer.close()
    assert "version 1, now 2" in rebuild_reason(place)
    writer = LocalWriter(place)
    assert writer.open(rebuild=True)
    writer.write([SearchDocument(id="a", content="text")])
    writer.commit()
    writer.close()
    assert rebuild_reason(place) == ""
