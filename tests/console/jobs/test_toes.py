from pathlib import Path
from typing import Any

from nacre.console.routes import API
from nacre.job.control import BY, ControlServer
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play

TOE = {
    "toe": 3, "uri": "http://a.test/%CA%E9", "path": "L", "via": "http://a.test/", "attempts": 1,
    "step": "fetch", "seconds": 2.5, "received": None,
}  # fmt: skip


def test_the_fetches_of_a_job_and_their_number(tmp_path: Path):
    root = tmp_path / "crawls" / "demo"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    asked: list[Any] = []

    async def toes(_: object) -> dict[str, Any]:
        return {"parallel": 25, "offset": 0.0, "toes": [TOE]}

    async def parallel(request: Any) -> dict[str, Any]:
        asked.append((request["number"], request[BY]))
        return {"before": 25, "parallel": request["number"]}

    async def scene(console: GivenConsole) -> None:
        url = f"{API}/jobs/crawls~demo"
        look, steer = console.as_key(), console.as_key(Role.OPERATOR)
        assert (await console.client.get(f"{url}/toes", headers=look)).status_code == 409
        named = Layout(root).socket
        named.parent.mkdir(exist_ok=True)
        server = ControlServer(named, {"toes": toes, "parallel": parallel}, lambda *_: "")
        await server.start()
        try:
            found = (await console.client.get(f"{url}/toes", headers=look)).json()
            assert found["toes"] == [TOE]
            wish = {"number": 7}
            refused = await console.client.put(f"{url}/parallel", json=wish, headers=look)
            assert refused.status_code == 403
            done = await console.client.put(f"{url}/parallel", json=wish, headers=steer)
            assert done.json() == {"before": 25, "parallel": 7}
        finally:
            await server.close()
        assert asked == [(7, "operator key via console")]

    play(tmp_path, scene)
