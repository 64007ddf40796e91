"""Common scripts of Heritrix's wiki and manual, carried out natively on a running job."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from nacre_migrate.port.statements import read_statements
from tests.cli.site import PAGES, site
from tests.console.stories.running import new_job, running_job
from tests.migrate.port.test_app import port

FRONTIER = "job.crawlController.frontier"
SHEETS = 'mgr = appCtx.getBean("sheetOverlaysManager")\n'

# What the script is for, the script, what it prints, and what job.log then says.
WIKI: list[tuple[str, str, str, str]] = [
    ("pause", "job.crawlController.requestCrawlPause()", "", "pause by"),
    ("checkpoint", 'appCtx.getBean("checkpointService").requestCrawlCheckpoint()', "",
     "checkpoint by"),
    ("add a seed", 'appCtx.getBean("seeds").seedLine("http://127.0.0.1:9/新/");', "", "import of"),
    ("add a SURT", "appCtx.getBean('seeds').nonseedLine('+http://(org,example,')", "",
     "import of"),
    ("count what waits", f'rawOut.println "queued: " + {FRONTIER}.queuedUriCount()', "queued: ",
     ""),
    ("delete by expression", "//Groovy\n"
     f'count = {FRONTIER}.deleteURIs(".*", "^http://no\\\\.such/.*")\n'
     'rawOut.println count + " uris deleted from frontier"', "0 uris deleted from frontier\n",
     "delete"),
    ("delete by expression, all queues",
     f"def n = {FRONTIER}.deleteURIs(/.*\\.gif/); rawOut.println(\"$n deleted\")", "0 deleted\n",
     "delete"),
    ("retire a queue", f'q = {FRONTIER}.getQueueFor("127.0.0.1#9")\nq.setRetired(true)', "",
     "retire"),
    ("bring a queue back", f'q = {FRONTIER}.getQueueFor("127.0.0.1#9")\nq.retired = false', "",
     "unretire"),
    ("reconsider retired queues", 'appCtx.getBean("frontier").reconsiderRetiredQueues()', "",
     "reconsider"),
    ("wake queues", "appCtx.getBean('frontier').forceWakeQueues();", "", "wake"),
    ("more threads", "job.crawlController.maxToeThreads = 50", "", "engine.parallel"),
    ("fewer threads", "job.crawlController.setMaxToeThreads(20);\n"
     'rawOut.println( appCtx.getBean("crawlController").maxToeThreads )', "20\n",
     "engine.parallel"),
    ("politeness", 'appCtx.getBean("disposition").minDelayMs = 700L', "", "politeness.min_delay"),
    ("limit of bytes", "import org.archive.modules.fetcher.*;\n"
     "appCtx.getBean('fetchHttp').setMaxLengthBytes(1000000) // 1 MB", "", "fetch.max_length"),
    ("retire by a sheet", f'{SHEETS}mgr.putSheetOverlay("off", "disposition.forceRetire", true)\n'
     'mgr.addSurtAssociation("http://(org,archive,", "off")', "", "sheets.off"),
    ("take the sheet off", f'{SHEETS}mgr.removeSurtAssociation("http://(org,archive,", "off")',
     "", "sheet_associations"),
    ("delete the sheet", f'{SHEETS}mgr.deleteSheet("off")', "", "sheets.off"),
    ("fewer hops", 'appCtx.getBean("scope").rules[2].maxHops = 4\n'
     'rawOut.print(appCtx.getBean("scope").rules[2].maxHops)', "4", "scope.2.max_hops"),
    ("refuse by expression", "appCtx.getBean('scope').rules[5].regexList = '.*/日历/.*'", "",
     "scope.5.regexes"),
    ("obey no robots.txt", "appCtx.getBean('metadata').robotsPolicyName = 'ignore'", "",
     "robots.policy"),
    ("resume", "/* go on */ job.crawlController.requestCrawlResume()", "", "resume by"),
    ("stop", "job.crawlController.requestCrawlStop();", "", "stop by"),
]  # fmt: skip


def test_the_list_has_twenty() -> None:
    assert len(WIKI) >= 20
    assert all(read_statements(script) for _, script, _, _ in WIKI)


@pytest.mark.slow
def test_they_are_carried_out(tmp_path: Path) -> None:
    job = tmp_path / "crawls" / "x"

    async def send(client: httpx.AsyncClient, script: str) -> ElementTree.Element:
        answer = await client.post("/engine/job/x/script", data={"script": script})
        assert answer.status_code == 200, answer.text
        return ElementTree.fromstring(answer.text)

    async def story() -> None:
        async with port(tmp_path) as client:
            for what, script, printed, _ in WIKI:
                found = await send(client, script)
                assert found.findtext("failure") == "false", (what, found.findtext("exception"))
                assert found.findtext("rawOutput", "").startswith(printed), what

    with site(PAGES) as seed:
        new_job(job, seed, "politeness.delay=600s")
        before = (job / "crawl.yaml").read_bytes()
        with running_job(job) as process:
            asyncio.run(story())
            process.wait(60)
    assert (job / "crawl.yaml").read_bytes() == before
    log = (job / "latest" / "logs" / "job.log").read_text("utf-8")
    assert [what for what, _, _, logged in WIKI if logged not in log] == []
    assert "script: delete URIs, print, by admin" in (job / "job.log").read_text("utf-8")


FAILURES = {
    'appCtx.getBean("disposition").minDelayMs = "soon"': "is no value here",
    'appCtx.getBean("disposition").noSuch = 1': "no setting of Nacre stands for",
    f'{FRONTIER}.deleteURIs("(")': "is not a regular expression",
    "appCtx.getBean('seeds').seedLine('mailto:a@b.test')": "seed",
    f'{FRONTIER}.deleteURIs(".*")\nappCtx.getBean("x").y = 1': "nothing was done",
}


def test_a_script_that_fails_gives_the_reason(tmp_path: Path) -> None:
    job = tmp_path / "crawls" / "x"

    async def story() -> None:
        async with port(tmp_path) as client:
            for number, (script, reason) in enumerate(FAILURES.items(), 1):
                answer = await client.post("/engine/job/x/script", data={"script": script})
                page = ElementTree.fromstring(answer.text)
                assert page.findtext("failure") == "true", script
                assert reason in page.findtext("exception", ""), script
                log = (job / "job.log").read_text("utf-8")
                assert log.count("SEVERE script: ") == number, script

    with site(PAGES) as seed:
        new_job(job, seed, "politeness.delay=600s")
        with running_job(job):
            asyncio.run(story())


HOSTILE: list[str | Callable[[], str]] = [
    '"rm -rf /".execute()', "new File('/etc/passwd').text", "Runtime.getRuntime().exec('x')",
    "System.exit(0)", "for (i in 1..9) { job.crawlController.requestCrawlStop() }",
    "evaluate('1')", 'rawOut.println("${"rm".execute()}")', "this.class.classLoader",
    "appCtx.getBean('scope').rules[x].maxHops = 1", "appCtx.getBean('scope').rules[1",
    "appCtx.getBean('frontier').importURIs('{}')", "job.jobDir.deleteDir()", "x = ", "rawOut",
    "a.b.c", "'unclosed", "(" * 5_000, "'a' + " * 5_000 + "'a'", "f(" * 400,
    "job.crawlController.frontier.getQueueFor('a').dequeue()", "\\u0000", "rawOut.println(x)",
]  # fmt: skip


@pytest.mark.parametrize("script", HOSTILE)
def test_nothing_else_is_a_script_of_plain_statements(script: str) -> None:
    assert read_statements(script) is None


@pytest.mark.parametrize(
    "script",
    [
        "\n".join(["x = 'a'", *['x = "${x}${x}"'] * 40, 'rawOut.println("$x")']),
        "\n".join(["x = 'a'", *["x = x + x"] * 40, "rawOut.println(x)"]),
        f"x = '{'a' * 60_000}'\nrawOut.println(x + x)",
        f"rawOut.println({'1' * 5_000})",
    ],
)
def test_a_text_that_doubles_is_bounded(script: str) -> None:
    assert read_statements(script) is None
