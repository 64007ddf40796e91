"""The writer of OpenSearch, by its client, with a server of our own that speaks its protocol."""

import hashlib

import pytest

from nacre.errors import StorageError
from nacre.search.document import SearchDocument
from nacre.search.settings import IndexSettings
from nacre.search.writers import DocumentWriter
from tests.search.writers.servers import opensearch


def made(tmp_path, url, **said) -> DocumentWriter:
    said = {"writer": "opensearch", "urls": [url], "index": "pages", "backoff": 0, **said}
    (one,) = IndexSettings.model_validate({"writers": [said]}).writers
    return one.make(tmp_path)


def document(key, **more):
    return SearchDocument(id=key, title="国家图书馆", tstamp=1_700_000_000_000, **more)


def test_an_index_is_made_and_documents_come_and_go(tmp_path):
    with opensearch() as (url, kept):
        writer = made(tmp_path, url, user="bot", password="p", batch=2, rename={"title": "t"})
        assert writer.open()
        assert kept.mappings["t"]["analyzer"] == "cjk"
        assert kept.mappings["tstamp"] == {"type": "date"}
        long = "http://example.org/" + "字" * 200
        writer.write([document("a"), document("b"), document(long, digest="\udcff")])
        writer.delete(["b", "never"])
        assert kept.documents == {}
        writer.commit()
        named = hashlib.sha256(long.encode()).hexdigest()
        assert sorted(kept.documents) == sorted(["a", named])
        assert kept.documents[named]["id"] == long
        assert kept.documents["a"]["t"] == "国家图书馆"
        assert kept.documents["a"]["tstamp"] == "2023-11-14T22:13:20Z"
        assert (kept.login or "").startswith("Basic ")
        bulks = [body for _, path, body in kept.requests if path == "/_bulk"]
        assert [len(body.splitlines()) for body in bulks] == [4, 2, 2]
        writer.close()
        assert not writer.open()
        assert writer.open(rebuild=True)
        assert kept.documents == {}
        writer.close()


def test_a_request_has_bytes_enough_and_a_begun_index_is_given_all_again(tmp_path):
    with opensearch() as (url, kept):
        writer = made(tmp_path, url, batch_bytes=1000)
        assert writer.open()
        writer.write([document(name, content="x" * 600) for name in "abc"])
        kept.commit()
        assert len([path for _, path, _ in kept.requests if path == "/_bulk"]) == 3
        writer.close()
        assert writer.open(), "it had no commit"
        writer.commit()
        writer.close()
        assert not writer.open()
        writer.close()


def test_a_server_without_room_is_asked_again_and_a_refused_document_is_named(tmp_path):
    with opensearch() as (url, kept):
        writer = made(tmp_path, url, retries=2)
        kept.refusals = [429, 503]
        assert writer.open()
        kept.refusals = [429]
        writer.write([document("a")])
        kept.bad = {"b"}
        with pytest.raises(StorageError, match="refuses b: mapper_parsing_exception: failed"):
            writer.write([document("b")])
        kept.refusals = [401]
        with pytest.raises(StorageError, match=r"index pages: .*`password`"):
            writer.commit()
        writer.close()
    gone = made(tmp_path, url, retries=0)
    with pytest.raises(StorageError, match="look whether it runs"):
        gone.open()
    gone.close()
