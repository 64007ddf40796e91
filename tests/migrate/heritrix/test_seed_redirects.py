"""`seedsRedirectNewSeeds`: whether a crawl follows a seed to another site."""

from pathlib import Path

import pytest

from nacre.machine.layout import Layout
from tests.cli.site import nacre, site

BEANS = """<beans xmlns="http://www.springframework.org/schema/beans">
<bean id="metadata" class="org.archive.modules.CrawlMetadata">
<property name="operatorContactUrl" value="http://library.example/"/></bean>
<bean id="seeds" class="org.archive.modules.seeds.TextSeedModule">
<property name="textSource"><bean class="org.archive.spring.ConfigString">
<property name="value"><value>{seed}</value></property></bean></property></bean>
<bean id="candidates" class="org.archive.crawler.postprocessor.CandidatesProcessor">
<property name="seedsRedirectNewSeeds" value="{new_seeds}"/>
<property name="seedsRedirectNewSeedsAllowTLDs" value="false"/></bean>
<bean id="disposition" class="org.archive.crawler.postprocessor.DispositionProcessor">
<property name="minDelayMs" value="0"/><property name="delayFactor" value="0"/></bean>
</beans>"""


@pytest.mark.parametrize(
    ("new_seeds", "fetched"),
    [("true", {"/", "/news/", "/news/图.html"}), ("false", {"/", "/news/"})],
)
def test_the_site_behind_a_seed(tmp_path: Path, new_seeds: str, fetched: set[str]) -> None:
    file, job = tmp_path / "crawler-beans.cxml", tmp_path / "job"
    other = {"/news/": '<a href="图.html">x</a>', "/news/%E5%9B%BE.html": "<p>图</p>"}
    with site(other) as target, site({"/": (302, f"{target}news/")}) as seed:
        file.write_text(BEANS.format(seed=seed, new_seeds=new_seeds), "utf-8")
        migrated = nacre("migrate", "heritrix", file, "--out", job)
        assert (migrated.code, "0 flagged" in migrated.out) == (0, True)
        assert nacre("run", job, "--quiet").code == 0
    latest = Layout(job).latest
    lines = (latest / "logs" / "crawl.log").read_text("utf-8").splitlines()
    rows = [line.split() for line in lines]
    urls = {row[3].removeprefix(target).removeprefix(seed) for row in rows if row[1] in "200 302"}
    assert {f"/{url}" for url in urls} == {path.replace("图", "%E5%9B%BE") for path in fetched}
    report = (latest / "reports" / "seeds-report.txt").read_text("utf-8")
    assert f"302 CRAWLED {seed} {target}news/" in report
