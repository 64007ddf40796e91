"""The writer of Solr, with a server of our own that speaks its protocol."""

import json

import pytest

from nacre.errors import ConfigError, StorageError
from nacre.search.document import SearchDocument
from nacre.search.settings import IndexSettings
from nacre.search.writers import DocumentWriter
from tests.search.writers.servers import solr


def made(tmp_path, **said) -> DocumentWriter:
    (one,) = IndexSettings.model_validate(
        {"writers": [{"writer": "solr", "backoff": 0, **said}]}
    ).writers
    return one.make(tmp_path)


def document(key, **more):
    return SearchDocument(id=key, title="国家图书馆", tstamp=1_700_000_000_000, **more)


def test_documents_come_and_go_with_a_commit(tmp_path):
    with solr() as (url, kept):
        writer = made(tmp_path, url=url, user="bot", password="p", batch=2, rename={"title": "t"})
        assert writer.open(), "a core without documents is given all"
        writer.write([document("a"), document("b"), document("c", digest="\udcff")])
        writer.delete(["b", "never"])
        assert kept.documents == {}
        writer.commit()
        assert sorted(kept.documents) == ["a", "c"]
        assert kept.documents["a"]["t"] == "国家图书馆"
        assert kept.documents["a"]["tstamp"] == "2023-11-14T22:13:20Z"
        assert kept.documents["c"]["digest"] == "?"
        assert (kept.login or "").startswith("Basic ")
        sizes = [len(json.loads(body)) for _, _, body in kept.requests if body.startswith(b"[")]
        assert sizes == [2, 1]
        writer.close()
        assert not writer.open()
        writer.close()
        assert writer.open(rebuild=True)
        writer.write([document("z")])
        assert sorted(kept.documents) == ["a", "c"], "the old ones answer until the commit"
        writer.commit()
        assert sorted(kept.documents) == ["z"]
        writer.close()


def test_a_request_has_a_limit_of_bytes(tmp_path):
    with solr() as (url, kept):
        writer = made(tmp_path, url=url, batch_bytes=1_000)
        writer.open()
        writer.write([document(one, content="x" * 450) for one in "abc"])
        writer.write([document("d", content="y" * 2_000), document("e")])
        writer.commit()
        writer.close()
        bodies = [json.loads(body) for _, _, body in kept.requests if body.startswith(b"[")]
        assert [[one["id"] for one in body] for body in bodies] == [
            ["a"],
            ["b"],
            ["c"],
            ["d"],
            ["e"],
        ]
        assert sorted(kept.documents) == list("abcde")


def test_an_index_that_was_begun_and_not_committed_is_given_all_again(tmp_path):
    with solr() as (url, kept):
        writer = made(tmp_path, url=url)
        assert writer.open()
        writer.write([document("a")])
        writer.delete([])
        kept.commit()  # as the server may by itself
        writer.close()
        again = made(tmp_path, url=url)
        assert again.open()
        again.commit()
        again.close()
        kept.documents = {"a": {}}
        assert not again.open()
        again.close()


def test_a_server_without_room_is_asked_again_and_others_are_named(tmp_path):
    with solr() as (url, kept):
        writer = made(tmp_path, url=url, retries=2)
        kept.refusals = [429, 503]
        assert writer.open()
        kept.refusals = [503, 503, 503]
        with pytest.raises(StorageError, match=r"writer `solr`: Solr at http.*HTTP 503"):
            writer.commit()
        kept.bad = {"x"}
        writer.write([document("x")])
        with pytest.raises(StorageError, match=r"unknown field 'x'.*schema"):
            writer.commit()
        writer.close()
    gone = made(tmp_path, url=url)
    with pytest.raises(StorageError, match="refused; look whether it runs"):
        gone.open()
    gone.close()


def test_what_is_no_solr_is_named(tmp_path):
    with solr() as (url, kept):
        kept.refusals = [401]
        with pytest.raises(StorageError, match="HTTP 401: no room"):
            made(tmp_path, url=url).open()
        with pytest.raises(StorageError, match=r"HTTP 404: no such core.*name of a core"):
            made(tmp_path, url=url.replace("core", "other")).open()
        kept.answers = [b"<html>", b"[]", b"{}", b'{"response": []}']
        for what in ("Expecting value", "no object", "no number", "no number"):
            with pytest.raises(StorageError, match=what):
                made(tmp_path, url=url).open()
    with pytest.raises(StorageError, match="No such file"):
        made(tmp_path, url="https://127.0.0.1:1/solr/x", ca=str(tmp_path / "none.pem")).open()


def test_webarchive_discovery(tmp_path):
    with solr() as (url, kept):
        writer = made(
            tmp_path,
            url=url,
            mapping="webarchive-discovery",
            warc_folder="/warcs/",
            remove=["host"],
        )
        writer.open()
        writer.write([document("https://www.example.org/a", warc_filename="x.warc.gz")])
        writer.commit()
        writer.close()
    (found,) = kept.documents.values()
    assert found["source_file_path"] == "/warcs/x.warc.gz"
    assert found["source_file_offset"] == 0
    assert found["wayback_date"] == 20231114221320
    assert "host" not in found


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"url": "ftp://x/"}, "no URL"),
        ({"url": "http://u:p@x/"}, "`user`"),
        ({"url": "http://x:99999/"}, "no URL"),
        ({"password": "p"}, "write both"),
        ({"mapping": "x"}, "mapping"),
    ],
)
def test_settings_that_mean_nothing(tmp_path, said, what):
    with pytest.raises((ConfigError, ValueError), match=what):
        made(tmp_path, **said)
