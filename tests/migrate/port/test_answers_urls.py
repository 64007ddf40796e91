"""Each URL of an answer can be asked for as it is, whatever the name of the job."""

import asyncio
import json
import re
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from tests.migrate.port.test_app import BEANS, port

NAMES = ("a b", "图书馆", "100%", "a#b?c", "a&b<c>", "é+'\"")
_PLAIN = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*")
"""Characters of a URL (RFC 3986)."""


def urls_of(tree: object, key: str = "") -> list[str]:
    """The values whose names end with `url`, in a tree of JSON."""
    if isinstance(tree, dict):
        return [url for name, value in tree.items() for url in urls_of(value, name)]
    if isinstance(tree, list):
        return [url for value in tree for url in urls_of(value, key)]
    return [str(tree)] if key.lower().endswith("url") and tree else []


@pytest.mark.parametrize("name", NAMES)
def test_urls_are_escaped(tmp_path: Path, name: str):
    async def story() -> None:
        async with port(tmp_path) as client:
            await client.post("/engine", data={"action": "create", "createpath": name})
            job = f"/engine/job/{quote(name, safe='')}"
            put = await client.put(f"{job}/jobdir/crawler-beans.cxml", content=BEANS.encode())
            assert put.status_code == 200
            built = await client.post(job, data={"action": "build"})
            assert "nacre-message" not in built.headers
            for path in (
                "/engine",
                job,
                f"{job}/beans",
                f"{job}/beans/disposition",
                f"{job}/script",
            ):
                found = await client.get(path, headers={"accept": "application/json"})
                xml = ElementTree.fromstring((await client.get(path)).text)
                urls = urls_of(found.json())
                assert urls
                assert set(urls) == {
                    one.text for one in xml.iter() if one.tag.lower().endswith("url") and one.text
                }
                assert [url for url in urls if not _PLAIN.fullmatch(url)] == []
            facts = json.loads((await client.get(job, headers={"accept": "application/json"})).text)
            assert (await client.get(facts["primaryConfigUrl"])).content == BEANS.encode()
            seeds = next(one for one in facts["configFiles"] if one["name"] == "seeds")
            assert "中文" in (await client.get(seeds["url"])).text

    asyncio.run(story())
