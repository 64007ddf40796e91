"""Clients of Heritrix 3 drive a job from its creation to its teardown.

Run by the judges' Python, which has `heritrix3`: `python heritrix_clients.py ENGINE KEY CXML`.
Prints a line of JSON for each client; an assertion that fails ends it.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import requests
from heritrix3 import HeritrixAPI
from heritrix3.api import disable_ssl_warnings

WAIT: dict[str, Any] = {"timeout": 60, "poll_delay": 0.1}


def with_heritrix3(engine: str, key: str, cxml: str) -> dict[str, object]:
    """The library `heritrix3`."""
    api = HeritrixAPI(engine, "admin", key)
    api.create("x")
    assert api.list_jobs(unbuilt=True) == ["x"]
    assert api.send_config("x", cxml)
    assert api.get_config("x") == Path(cxml).read_text()
    api.build("x")
    assert api.get_launchid("x") is None
    api.launch("x")
    assert api.wait_for_action("x", "unpause", **WAIT)
    assert api.get_job_state("x") == "PAUSED"
    api.unpause("x")
    assert api.wait_for_jobstate("x", "RUNNING", **WAIT)
    browsed = change_a_bean(api)
    api.pause("x")
    assert api.wait_for_jobstate("x", "PAUSED", **WAIT)
    api.checkpoint("x")
    facts = api.info("x")["job"]
    assert int(facts["loadReport"]["totalThreads"]) == 25
    assert facts["threadReport"]["toeCount"] == "25"
    assert "ABOUT_TO_GET_URI" in str(facts["threadReport"]["steps"])
    api.unpause("x")
    launch = api.get_launchid("x")
    api.terminate("x")
    assert api.wait_for_jobstate("x", "FINISHED", **WAIT)
    assert api.get_crawl_exit_state("x") == "ABORTED"
    report = api.crawl_report("x")
    warcs = api.list_warcs("x", launch)
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "one.warc.gz")
        assert api.retrieve_file("x", place, warcs[0])
        magic = Path(place).read_bytes()[:2].hex()
    api.teardown("x")
    assert api.get_job_actions("x") == ["build", "launch"]
    return {"bean": browsed, "report": report, "warcs": len(warcs), "magic": magic}


def change_a_bean(api: HeritrixAPI) -> str:
    """Change a property of a bean while the job runs; its value then."""
    url = f"{api.host}/job/x/beans"
    asked: dict[str, Any] = {"auth": api.auth, "verify": False, "timeout": 60}
    form = {"beanPath": "disposition.minDelayMs", "newVal": "1500"}
    answer = requests.post(url, data=form, allow_redirects=False, **asked)
    assert answer.status_code == 303, answer.text
    shown = requests.get(answer.headers["location"], headers=api.headers, **asked).text
    return shown.partition("<propValue>")[2].partition("<")[0]


def with_hapy(engine: str, key: str, cxml: str) -> dict[str, object]:
    """The requests of hapy, which is a library for Python 2."""
    known: dict[str, Any] = {
        "headers": {"accept": "application/xml"},
        "auth": requests.auth.HTTPDigestAuth("admin", key),
        "verify": False,
        "allow_redirects": False,
        "timeout": 60,
    }

    def post(path: str, code: int = 303, **form: str) -> str:
        answer = requests.post(f"{engine}{path}", data=form, **known)
        assert answer.status_code == code, (path, form, answer.status_code)
        return answer.text

    def job(name: str) -> str:
        answer = requests.get(f"{engine}/job/{name}", **known)
        assert answer.status_code == 200, answer.status_code
        return answer.text

    post("", action="create", createpath="y")
    place = job("y").partition("<primaryConfigUrl>")[2].partition("<")[0]
    put = requests.put(place, data=Path(cxml).read_bytes(), **known)
    assert put.status_code == 200
    post("/job/y", action="build")
    assert "<statusDescription>Ready" in job("y")
    script = "rawOut.println( appCtx.getCurrentLaunchId() );"
    launch = post("/job/y/script", 200, engine="beanshell", script=script)
    refused = post("/job/y/script", 200, engine="groovy", script="'rm -rf /'.execute()")
    post("/job/y", action="teardown")
    post("/job/y", copyTo="z", asProfile="on")
    assert "<isProfile>true" in job("z")
    post("", action="rescan")
    for name in ("y", "z"):
        post(f"/job/{name}", action="delete")
        assert requests.get(f"{engine}/job/{name}", **known).status_code == 404
    return {
        "launch": launch.partition("<rawOutput>")[2].partition("<")[0].strip(),
        "refused": "scripts are not run" in refused,
    }


if __name__ == "__main__":
    disable_ssl_warnings()
    for client in (with_heritrix3, with_hapy):
        sys.stdout.write(json.dumps(client(*sys.argv[1:4])) + "\n")
