import asyncio
import subprocess
import sys

import pytest

from nacre.engine.steps import parser_main
from nacre.engine.steps.extract import ParserProcess
from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.settings import ExtractSettings

PAGE = b"<!DOCTYPE html><a href='b.html'>b</a><img src=c.png>"
DOCUMENT = Document(url="http://a.test/", mime="text/html", body=PAGE)


def ask(*documents: Document, time_limit: float = 30.0) -> list[list[str]]:
    async def main() -> list[list[str]]:
        parser = ParserProcess(time_limit)
        try:
            found = [await parser.extract(d, ExtractSettings()) for d in documents]
        finally:
            await parser.close()
        return [[link.url for link in one.outlinks] + one.annotations for one in found]

    return asyncio.run(main())


def test_the_helper_finds_what_the_process_itself_finds():
    here = extract(DOCUMENT, ExtractSettings())
    expected = [link.url for link in here.outlinks] + here.annotations
    assert expected
    assert ask(DOCUMENT, DOCUMENT) == [expected, expected]


@pytest.mark.timeout(30)
def test_a_document_that_takes_too_long_costs_only_itself():
    # The time limit is shorter than the start of the helper.
    assert ask(DOCUMENT, time_limit=0.001) == [["parserTimeout"]]


def test_the_helper_starts_without_the_library_of_settings() -> None:
    code = f"import sys, {parser_main.__name__}; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
