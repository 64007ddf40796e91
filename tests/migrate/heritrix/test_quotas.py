"""Limits of objects as NetarchiveSuite writes them, in a crawl of a site with missing pages."""

from pathlib import Path

import pytest

from nacre.machine.layout import Layout
from tests.cli.site import nacre, site

PAGES = {
    "/": "".join(f'<a href="{n}.html">x</a><a href="missing{n}.html">y</a>' for n in range(20)),
    "/robots.txt": "User-agent: *\nDisallow:\n",
    **{f"/{n}.html": f"<p>页面 {n}</p>" for n in range(20)},
}
BEANS = """<beans xmlns="http://www.springframework.org/schema/beans">
<bean id="simpleOverrides"
  class="org.springframework.beans.factory.config.PropertyOverrideConfigurer">
<property name="properties"><value>
frontier.queueTotalBudget={budget}
disposition.minDelayMs=0
disposition.delayFactor=0
</value></property></bean>
<bean id="metadata" class="org.archive.modules.CrawlMetadata">
<property name="operatorContactUrl" value="http://library.example/"/></bean>
<bean id="seeds" class="org.archive.modules.seeds.TextSeedModule">
<property name="textSource"><bean class="org.archive.spring.ConfigString">
<property name="value"><value>{seed}</value></property></bean></property></bean>
<bean id="preparer" class="org.archive.crawler.prefetch.FrontierPreparer">
<property name="queueAssignmentPolicy"><ref bean="queueAssignmentPolicy"/></property>
<property name="costAssignmentPolicy">
<bean class="org.archive.crawler.frontier.UnitCostAssignmentPolicy"/></property></bean>
<bean id="queueAssignmentPolicy"
  class="dk.netarkivet.harvester.harvesting.DomainnameQueueAssignmentPolicy"/>
<bean id="preselector" class="org.archive.crawler.prefetch.Preselector"/>
<bean id="preconditions" class="org.archive.crawler.prefetch.PreconditionEnforcer"/>
<bean id="quotaenforcer" class="org.archive.crawler.prefetch.QuotaEnforcer">
<property name="forceRetire" value="false"/>
<property name="serverMaxFetchSuccesses" value="-1"/>
<property name="hostMaxFetchSuccesses" value="-1"/>
<property name="groupMaxFetchSuccesses" value="{successes}"/>
<property name="groupMaxAllKb" value="-1"/></bean>
<bean id="fetchDns" class="org.archive.modules.fetcher.FetchDNS"/>
<bean id="fetchHttp" class="org.archive.modules.fetcher.FetchHTTP"/>
<bean id="extractorHttp" class="org.archive.modules.extractor.ExtractorHTTP"/>
<bean id="extractorHtml" class="org.archive.modules.extractor.ExtractorHTML"/>
<bean id="fetchProcessors" class="org.archive.modules.FetchChain"><property name="processors"><list>
<ref bean="preselector"/><ref bean="preconditions"/><ref bean="quotaenforcer"/>
<ref bean="fetchDns"/><ref bean="fetchHttp"/><ref bean="extractorHttp"/><ref bean="extractorHtml"/>
</list></property></bean>
<bean id="candidateProcessors" class="org.archive.modules.CandidateChain">
<property name="processors"><list><ref bean="preparer"/></list></property></bean>
<bean id="warcWriter" class="org.archive.modules.writer.WARCWriterProcessor"/>
<bean id="candidates" class="org.archive.crawler.postprocessor.CandidatesProcessor"/>
<bean id="disposition" class="org.archive.crawler.postprocessor.DispositionProcessor"/>
<bean id="dispositionProcessors" class="org.archive.modules.DispositionChain">
<property name="processors"><list><ref bean="warcWriter"/><ref bean="candidates"/>
<ref bean="disposition"/></list></property></bean>
<bean id="frontier" class="org.archive.crawler.frontier.BdbFrontier"/>
</beans>"""


@pytest.mark.parametrize(
    ("successes", "budget", "replies"), [(10, -1, 10), (-1, 10, 10), (1, -1, 1), (-1, -1, 43)]
)
def test_a_limit_of_objects_counts_every_reply(
    tmp_path: Path, successes: int, budget: int, replies: int
) -> None:
    file, job = tmp_path / "crawler-beans.cxml", tmp_path / "job"
    with site(PAGES) as seed:
        file.write_text(BEANS.format(budget=budget, seed=seed, successes=successes), "utf-8")
        policy = "dk.netarkivet.harvester.harvesting.DomainnameQueueAssignmentPolicy"
        known = f"{policy}=AssignmentLevelSurtQueueAssignmentPolicy"
        migrated = nacre("migrate", "heritrix", file, "--out", job, "--class", known)
        assert migrated.code == 0, migrated.err
        nacre("run", job, "--quiet")
    lines = (Layout(job).latest / "logs" / "crawl.log").read_text("utf-8").splitlines()
    statuses = [int(line.split()[1]) for line in lines]
    assert sum(status > 0 for status in statuses) == replies
