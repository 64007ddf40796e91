from pathlib import Path

from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.console.given import GivenConsole, play


def test_a_request_with_a_key_is_done_once(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = {**console.as_key(Role.OPERATOR), "idempotency-key": "图书馆-1".encode().hex()}
        wish = {"seeds": ["http://127.0.0.1:9/"], "name": "a"}
        client = console.client
        first = await client.post(f"{API}/jobs", json=wish, headers=fields)
        again = await client.post(f"{API}/jobs", json=wish, headers=fields)
        assert (first.status_code, first.content) == (again.status_code, again.content)
        assert first.status_code == 201
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        other = await client.post(f"{API}/jobs", json=wish | {"name": "b"}, headers=fields)
        assert (other.status_code, other.json()["code"]) == (422, "other-body")
        assert len(console.parts.common.fleet.jobs) == 1
        admin = {**fields, **console.as_key(Role.ADMIN)}
        theirs = await client.post(f"{API}/jobs", json=wish, headers=admin)
        assert theirs.status_code == 422  # a key is of who sends it: the job is there already
        fresh = {**fields, "idempotency-key": "x" * 201}
        assert (await client.post(f"{API}/jobs", json=wish, headers=fresh)).status_code == 400
        mended = {**fields, "idempotency-key": "2"}
        json = {**mended, "content-type": "application/json"}
        bad = await client.post(f"{API}/jobs/crawls~a/pause", content=b"", headers=json)
        assert bad.status_code == 409
        later = await client.post(f"{API}/jobs/crawls~a/pause", headers=mended)
        assert "idempotency-replayed" not in later.headers  # a refusal is not kept

    play(tmp_path, scene)
