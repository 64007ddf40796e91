"""Clients of Heritrix 3 drive a job from its creation to its teardown.

Run by the judges' Python, which has `heritrix3`:
`python heritrix_clients.py ENGINE KEY CXML`, or `ENGINE KEY PROFILE SEED` for a stock profile.
Prints a line of JSON for each client; an assertion that fails ends it.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import requests
from heritrix3 import HeritrixAPI
from heritrix3.api import HeritrixAPIError, disable_ssl_warnings

WAIT: dict[str, Any] = {"timeout": 200, "poll_delay": 0.1}


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


def with_a_profile(engine: str, key: str, profile: str, seed: str) -> dict[str, object]:
    """A stock profile, with a class that Nacre does not know, is crawled to its end."""
    api = HeritrixAPI(engine, "admin", key)
    own = "<bean id='loggerModule' class='org.x.OwnLogs'/>"
    text = Path(profile).read_text("utf-8").replace("</beans>", f"{own}</beans>")
    contact = "ENTER_AN_URL_WITH_YOUR_CONTACT_INFO_HERE_FOR_WEBMASTERS_AFFECTED_BY_YOUR_CRAWL"
    text = text.replace(contact, "http://library.example/").replace(
        "http://example.example/example", seed
    )
    api.create("stock")
    assert api.send_content("stock", text.encode(), "crawler-beans.cxml")
    api.build("stock")
    asked = "answer in classes.txt" in str(api.job_log("stock"))
    assert api.send_content("stock", b"org.x.OwnLogs=CrawlerLoggerModule\n", "classes.txt")
    api.build("stock")
    api.launch("stock")
    assert api.wait_for_action("stock", "unpause", **WAIT)
    api.unpause("stock")
    assert api.wait_for_jobstate("stock", "FINISHED", **WAIT)
    exit_state, log = api.get_crawl_exit_state("stock"), str(api.crawl_log("stock"))
    try:
        api.teardown("stock")
        api.delete_job_dir("stock")
        refused = ""
    except HeritrixAPIError as error:
        refused = str(error)
    return {"asked": asked, "exit": exit_state, "log": log, "refused": refused}


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
    engine, key, cxml, *seed = sys.argv[1:]
    found = (
        [with_a_profile(engine, key, cxml, seed[0])]
        if seed
        else [with_heritrix3(engine, key, cxml), with_hapy(engine, key, cxml)]
    )
    sys.stdout.write("".join(f"{json.dumps(one)}\n" for one in found))
