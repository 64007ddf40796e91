"""A migrated configuration does what the report says of it, or no job is written.

A national library's file had its own subclass of the writer, one of the extractor of header links,
and expressions of Spring. It came out as nothing wrong, and the job archived nothing.
"""

import json
import shlex

import pytest

from tests.cli.site import nacre, site

OWN = "cn.图书馆.采集."
CONFIGURATION = f"""<?xml version="1.0" encoding="GBK"?>
<beans xmlns="http://www.springframework.org/schema/beans">
 <!-- 国家图书馆的采集任务 -->
 <bean id="metadata" class="org.archive.modules.CrawlMetadata">
  <property name="jobName" value="#{{systemEnvironment['TASK'] ?: '新闻'}}"/>
  <property name="operatorContactUrl" value="https://library.example/bot"/>
  <property name="userAgentTemplate"
    value="#{{systemEnvironment['AGENT'] ?: 'nlc_bot'}}/@VERSION@ (+@OPERATOR_CONTACT_URL@)"/>
  <property name="organization" value="#{{metadata.jobName.toUpperCase()}}"/>
 </bean>
 <bean id="seeds" class="org.archive.modules.seeds.TextSeedModule">
  <property name="textSource"><bean class="org.archive.spring.ConfigString">
   <property name="value" value="SEED"/></bean></property>
 </bean>
 <bean id="fetchHttp" class="org.archive.modules.fetcher.FetchHTTP"/>
 <bean id="extractorHttp" class="{OWN}ExtractorHTTPWithHints"/>
 <bean id="extractorHtml" class="org.archive.modules.extractor.ExtractorHTML"/>
 <bean id="fetchProcessors" class="org.archive.modules.FetchChain"><property name="processors">
  <list><ref bean="fetchHttp"/><ref bean="extractorHttp"/><ref bean="extractorHtml"/>
   <bean class="{OWN}病毒检查"/></list></property></bean>
 <bean id="warcWriterMain" class="{OWN}ExtendedWARCWriterProcessor">
  <property name="prefix" value="#{{systemEnvironment['PREFIX'] ?: '新闻'}}"/></bean>
 <bean id="warcWriterViral" class="org.archive.modules.writer.WARCWriterProcessor">
  <property name="prefix" value="viral"/>
  <property name="shouldProcessRule">
   <bean class="org.archive.modules.deciderules.DecideRuleSequence"><property name="rules"><list>
    <bean class="org.archive.modules.deciderules.RejectDecideRule"/>
    <bean class="{OWN}HasVirusDecideRule"/></list></property></bean></property></bean>
 <bean id="candidates" class="org.archive.crawler.postprocessor.CandidatesProcessor"/>
 <bean id="dispositionProcessors" class="org.archive.modules.DispositionChain">
  <property name="processors"><list><ref bean="warcWriterViral"/><ref bean="warcWriterMain"/>
   <ref bean="candidates"/></list></property></bean>
</beans>
"""
CLASSES = {
    f"{OWN}ExtendedWARCWriterProcessor": "warc-writer",
    f"{OWN}ExtractorHTTPWithHints": "extract-headers",
    f"{OWN}病毒检查": "drop",
    f"{OWN}HasVirusDecideRule": "drop",
}


def written(folder, seed="http://site.example/"):
    file = folder / "crawler-beans.cxml"
    file.write_bytes(CONFIGURATION.replace("SEED", seed).encode("gbk"))
    return file


def test_unknown_classes_are_answered_before_a_job_is_written(tmp_path):
    done = nacre("migrate", "heritrix", written(tmp_path), "--out", tmp_path / "job")
    assert done.code == 2
    assert not (tmp_path / "job").exists()
    assert "4 problems" in done.err
    for name, what in CLASSES.items():
        assert f"--class {name}={what}" in done.err
    # The reason why it is taken for that, and where it stands.
    assert "its name has WARCWriterProcessor in it" in done.err
    assert "its name has ExtractorHTTP in it" in done.err
    assert "is in the fetch chain" in done.err


def test_the_answers_are_told_as_a_command_to_paste(tmp_path):
    typed = ["migrate", "heritrix", str(written(tmp_path)), "--out", str(tmp_path / "job")]
    done = nacre(*typed)
    (line,) = (one for one in done.err.splitlines() if " migrate heritrix " in one)
    pasted = shlex.split(line)[1:]
    assert pasted[: len(typed)] == typed
    again = nacre(*pasted)
    assert again.code == 0, again.err
    assert nacre("check", tmp_path / "job").code == 0


def test_a_file_answers_too(tmp_path):
    answers = tmp_path / "classes.txt"
    lines = (f"{name} = {what}  # 说明" for name, what in CLASSES.items())
    answers.write_text("\n".join(lines), "gb18030")
    out = tmp_path / "job"
    done = nacre("migrate", "heritrix", written(tmp_path), "--out", out, "--classes", answers)
    assert done.code == 0, done.err


def test_expressions_are_worked_out_or_flagged_and_never_copied(tmp_path):
    answers = [part for pair in CLASSES.items() for part in ("--class", "=".join(pair))]
    out = tmp_path / "job"
    done = nacre("migrate", "heritrix", written(tmp_path), "--out", out, *answers)
    assert done.code == 0, done.err
    text = (out / "crawl.yaml").read_text("utf-8")
    assert "#{" not in text
    assert "user_agent: nlc_bot/{version} (+{contact})" in text
    assert "prefix: 新闻" in text
    told = json.loads((out / "migration.json").read_text("utf-8"))["properties"]
    found = {one["name"]: one for one in told}
    assert found["metadata.organization"]["outcome"] == "flagged"
    assert "TASK" in found["metadata.jobName"]["note"]
    # The second writer has a prefix and a gate of its own: neither is in effect, and it says so.
    assert found["warcWriterViral.prefix"]["outcome"] == "flagged"
    assert "gate" not in text


SITE = {"/": '<a href="a.html">a</a>', "/a.html": "<p>text</p>"}


def migrated_job(tmp_path, seed, **answers):
    """A job that was migrated with answers of an operator's own."""
    said = {**CLASSES, **{OWN + name: what for name, what in answers.items()}}
    options = [part for pair in said.items() for part in ("--class", "=".join(pair))]
    out = tmp_path / "job"
    done = nacre("migrate", "heritrix", written(tmp_path, seed), "--out", out, *options)
    assert done.code == 0, done.err
    return out


@pytest.mark.crawl
def test_the_answered_job_archives_what_it_fetches(tmp_path):
    with site(SITE) as seed:
        job = migrated_job(tmp_path, seed)
        done = nacre("run", job, "--quiet", "--set", "politeness.min_delay=0")
    assert done.code == 0, done.err
    assert list(job.glob("runs/*/**/*.warc.gz"))


@pytest.mark.crawl
def test_a_job_that_archives_nothing_says_so_before_and_after(tmp_path):
    # Both writers are left out, by the answers of an operator who did not look.
    with site(SITE) as seed:
        text = CONFIGURATION.replace("org.archive.modules.writer.WARCWriter", f"{OWN}WARCWriter")
        file = written(tmp_path, seed)
        file.write_bytes(text.replace("SEED", seed).encode("gbk"))
        said = {**CLASSES, f"{OWN}ExtendedWARCWriterProcessor": "drop"}
        said[f"{OWN}WARCWriterProcessor"] = "drop"
        options = [part for pair in said.items() for part in ("--class", "=".join(pair))]
        job = tmp_path / "job"
        moved = nacre("migrate", "heritrix", file, "--out", job, *options)
        assert moved.code == 0, moved.err
        assert "this job writes no WARC" in moved.out
        checked = nacre("check", job)
        done = nacre("run", job, "--set", "politeness.min_delay=0")
    assert "this job writes no WARC: `archive` is switched off" in checked.out + checked.err
    assert "this job writes no WARC" in done.err
    assert done.code == 9, done.out + done.err
    assert "nothing was archived" in done.out + done.err
    assert "Why: " in done.out
    assert not {"Verify: ", "Browse: "} & {line[:8] for line in done.out.splitlines()}


@pytest.mark.crawl
def test_redirects_are_not_followed_where_the_check_says_so(tmp_path):
    with site(SITE) as seed:
        job = migrated_job(tmp_path, seed, ExtractorHTTPWithHints="drop")
        checked = nacre("check", job)
    assert "no redirects are followed" in checked.out + checked.err
