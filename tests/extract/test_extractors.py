"""Extractors of plug-ins beside Nacre's own; tests/contract/test_plugins.py installs one."""

from importlib.metadata import EntryPoint

import pytest
from pydantic import ValidationError

from nacre.config import registry
from nacre.core.crawluri import Hop
from nacre.extract.dispatch import extract
from nacre.extract.document import Document, Extraction
from nacre.extract.extractors import EXTRACTORS, Extractor
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings

LIST = "text/uri-list"


def read_lines(document: Document, links: LinkCollector) -> None:
    for line in document.body.decode(document.charset).splitlines():
        links.add(line, Hop.LINK, "line")


def refuse(document: Document, links: LinkCollector) -> None:
    links.add("/before", Hop.LINK, "line")
    raise ValueError("no such list")


LINES = Extractor("lines", read_lines, frozenset((LIST,)), is_text=True, contract=1)
REFUSING = Extractor("refusing", refuse, frozenset((LIST, "text/css")), contract=1)
OLD = Extractor("old", read_lines, frozenset((LIST,)))


@pytest.fixture(autouse=True)
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"lines": LINES, "refusing": REFUSING, "old": OLD, "other": read_lines}
    entries = [EntryPoint(name, f"here:{name}", "nacre.extractors") for name in parts]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    monkeypatch.setattr(EntryPoint, "load", lambda entry: parts[entry.name])
    monkeypatch.setattr(EXTRACTORS, "_parts", dict(EXTRACTORS._parts))
    monkeypatch.setattr(EXTRACTORS, "_faults", [])
    monkeypatch.setattr(EXTRACTORS, "_looked", False)


def found(mime: str, *names: str, body: bytes = b"/a\n/b", **more: object) -> Extraction:
    document = Document(url="http://a.test/list", mime=mime, body=body, **more)  # type: ignore[arg-type]
    settings = ExtractSettings(extractors=names, infer_favicon=False)
    return extract(document, settings)


def urls(result: Extraction) -> list[str]:
    return [link.url.removeprefix("http://a.test") for link in result.outlinks]


def test_it_takes_documents_of_its_types():
    result = found(LIST, "lines")
    assert urls(result) == ["/a", "/b"]
    assert result.claimed


def test_it_is_used_only_where_it_is_named():
    assert urls(found(LIST)) == []
    assert not found(LIST).claimed


def test_other_documents_are_left_to_the_stock_extractors():
    assert urls(found("text/css", "lines", body=b"a{b:url(/x.png)}")) == ["/x.png"]


def test_it_comes_before_the_stock_extractors():
    result = found("text/css", "refusing", body=b"a{b:url(/x.png)}")
    assert urls(result) == ["/before"]


def test_of_several_the_first_that_takes_the_type():
    assert urls(found(LIST, "refusing", "lines")) == ["/before"]
    assert urls(found(LIST, "lines", "refusing")) == ["/a", "/b"]


def test_what_it_cannot_read_is_an_annotation_and_what_it_found_stays():
    result = found(LIST, "refusing")
    assert result.annotations == ["err=ValueError"]
    assert urls(result) == ["/before"]


def test_the_encoding_of_a_text_is_found_first():
    result = found(LIST, "lines", body="/é".encode("latin-1"), charset_header="iso-8859-1")
    assert urls(result) == ["/%C3%A9"]
    assert result.charset == "cp1252"


@pytest.mark.parametrize("fields", [{"status": 404}, {"body": b""}])
def test_what_is_not_searched_is_not_searched_by_it_either(fields: dict[str, object]):
    assert urls(found(LIST, "lines", **fields)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("line", "there is no extractor 'line'; did you mean `lines`?"),
        ("old", "the plug-in old (here:old) does not say for which contract it was written"),
        (
            "other",
            "the plug-in other (here:other) is nothing that Nacre can plug in: it is not an extr",
        ),
        ("html", "the extractor 'html' is Nacre's own, which is always used"),
    ],
)
def test_the_check_names_what_is_wrong(name: str, said: str):
    with pytest.raises(ValidationError) as caught:
        ExtractSettings(extractors=(name,))
    assert said in str(caught.value)
