"""S10: scripts that were written for Heritrix 3 go on, with the clients that they use."""

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cases.table import cases_folder
from tests.cli.site import many_pages, site
from tests.console.stories.running import command, console_of
from tests.migrate.heritrix.stock317 import stock_317

pytestmark = pytest.mark.console

ROOT = Path(__file__).parents[3]
JUDGE = ROOT / ".venv-judges" / "bin" / "python"
CLIENTS = Path(__file__).with_name("heritrix_clients.py")
BEANS = """<beans xmlns="http://www.springframework.org/schema/beans">
<bean id="metadata" class="org.archive.modules.CrawlMetadata">
<property name="operatorContactUrl" value="http://a.test/"/></bean>
<bean id="seeds" class="org.archive.modules.seeds.TextSeedModule"><property name="textSource">
<bean class="org.archive.spring.ConfigString"><property name="value">
<value>SEED</value></property></bean></property></bean></beans>"""


def test_a_job_of_heritrix_goes_from_its_creation_to_its_teardown(tmp_path: Path):
    if not JUDGE.is_file():
        pytest.skip("no environment of the judges: make judges")
    beans = tmp_path / "crawler-beans.cxml"
    with site(many_pages(50)) as url, console_of(tmp_path, "--heritrix", "0") as console:
        beans.write_text(BEANS.replace("SEED", url))
        key = command(
            "console", "heritrix-key", "admin", "--role", "admin", "--state", console.state
        ).strip()
        done = subprocess.run(
            [str(JUDGE), str(CLIENTS), console.heritrix, key, str(beans)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + console.log
        library, hapy = map(json.loads, done.stdout.splitlines())
        assert library["bean"] == "1500"
        assert "crawl status: Finished - Ended by operator" in library["report"]
        assert library["warcs"] >= 1
        assert library["magic"] == "1f8b"
        assert hapy == {"launch": "null", "refused": True}
        log = (console.crawls / "x" / "latest" / "logs" / "job.log").read_text()
        assert "politeness.min_delay" in log
        curled = curl(console.heritrix, key)
    assert curled.findtext("shortName") == "x"
    assert curled.findtext("statusDescription") == "Ready"


@pytest.mark.slow
def test_the_stock_profile_of_317_is_crawled(tmp_path: Path):
    if not JUDGE.is_file():
        pytest.skip("no environment of the judges: make judges")
    samples = cases_folder().parent / "samples" / "heritrix"
    if not samples.is_dir():
        pytest.skip(f"{samples} is absent")
    quick = '<bean id="disposition" class="org.archive.crawler.postprocessor.DispositionProcessor">'
    delay = '<property name="minDelayMs" value="0"/><property name="delayFactor" value="0"/>'
    profile, beans = tmp_path / "profile.cxml", tmp_path / "crawler-beans.cxml"
    text = stock_317(samples)
    assert quick in text
    profile.write_text(text.replace(quick, f"{quick}{delay}"), "utf-8")
    with site({"/": "<p>页面</p>"}) as url, console_of(tmp_path, "--heritrix", "0") as console:
        beans.write_text(BEANS.replace("SEED", url))
        key = command(
            "console", "heritrix-key", "admin", "--role", "admin", "--state", console.state
        ).strip()
        done = subprocess.run(
            [str(JUDGE), str(CLIENTS), console.heritrix, key, str(profile), url],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + console.log
    found = json.loads(done.stdout)
    assert (found["asked"], found["exit"]) == (True, "FINISHED")
    assert f" {url} - - text/html " in found["log"]
    assert "409" in found["refused"]
    report = (console.crawls / "stock" / "latest" / "reports" / "source-report.txt").read_text()
    assert "No source tag information" in report
    assert "processor: bot-block" in (console.crawls / "stock" / "crawl.yaml").read_text()


def curl(engine: str, key: str) -> ElementTree.Element:
    """The job after a build, as curl gets it with the options of Heritrix's manual."""
    program = shutil.which("curl")
    if program is None:
        pytest.skip("no curl here")
    ask = [program, "-s", "-k", "-u", f"admin:{key}", "--anyauth", "--location"]
    fields = ["-H", "Accept: application/xml"]
    url = f"{engine}/job/x"
    built = subprocess.run(
        [*ask, *fields, "-d", "action=build", url], capture_output=True, text=True, check=True
    )
    return ElementTree.fromstring(built.stdout)
