"""Beans that are sent: what becomes of files, variables and passwords that they name."""

import asyncio
from pathlib import Path

import pytest

from nacre.fleet.reach import ConsoleReach
from nacre.ops.operation import Role
from tests.migrate.port.test_app import BEANS, HERE, REMOTE, port

SPRING = "org.springframework.beans.factory.config"
LOGIN = """<bean id="store" class="org.archive.modules.credential.CredentialStore">
<property name="credentials"><map><entry key="a">
<bean class="org.archive.modules.credential.HttpAuthenticationCredential">
<property name="domain" value="a.test"/><property name="realm" value="r"/>
<property name="login" value="anna"/><property name="password" value="PASSWORD"/>
</bean></entry></map></property></bean>"""
SURTS = """<bean id="scope" class="org.archive.modules.deciderules.DecideRuleSequence">
<property name="rules"><list><bean class="org.archive.modules.deciderules.RejectDecideRule"/>
<bean class="org.archive.modules.deciderules.surt.SurtPrefixedDecideRule">
<property name="surtsSource"><bean class="org.archive.spring.ConfigFile">
<property name="path" value="PATH"/></bean></property></bean></list></property></bean>"""
WARCS = """<bean id="warcWriter" class="org.archive.modules.writer.WARCWriterProcessor">
<property name="storePaths"><list><value>PATH</value></list></property></bean>"""
SEEDS = """<beans xmlns="http://www.springframework.org/schema/beans">
<bean id="metadata" class="org.archive.modules.CrawlMetadata">
<property name="operatorContactUrl" value="http://a.test/"/></bean>
<bean id="seeds" class="org.archive.modules.seeds.TextSeedModule"><property name="textSource">
<bean class="org.archive.spring.ConfigFile"><property name="path" value="PATH"/></bean>
</property></bean></beans>"""


def sent(
    folder: Path, beans: str, reach: ConsoleReach = REMOTE, role: Role = Role.OPERATOR
) -> tuple[Path, str]:
    """A job to which beans are sent, and what its log then says."""
    job, found = folder / "crawls" / "x", ""

    async def story() -> None:
        nonlocal found
        async with port(folder, role, reach) as client:
            await client.post("/engine", data={"action": "create", "createpath": "x"})
            (job / "job.log").unlink(missing_ok=True)
            (job / "surts.txt").write_text("http://(test,\n", "utf-8")
            place = "/engine/job/x/jobdir"
            put = await client.put(f"{place}/crawler-beans.cxml", content=beans.encode())
            assert put.status_code in {200, 201}
            kept = await client.get(f"{place}/crawler-beans.cxml")
            assert kept.text == beans
            found = (await client.get(f"{place}/job.log")).text

    asyncio.run(story())
    return job, found


def with_bean(bean: str) -> str:
    return BEANS.replace("</beans>", f"{bean}</beans>")


@pytest.mark.parametrize("reach", [HERE, REMOTE])
def test_beans_with_a_password_make_a_job_without_it(tmp_path: Path, reach: ConsoleReach):
    job, log = sent(tmp_path, with_bean(LOGIN.replace("PASSWORD", "hunter2")), reach)
    text = (job / "crawl.yaml").read_text("utf-8")
    assert "credentials" not in text
    assert "http://a.test/" in text
    assert "SEVERE" not in log
    for file in job.glob("*"):
        assert not file.is_file() or "cxml" in file.name or "hunter2" not in file.read_text("utf-8")


@pytest.mark.parametrize(("reach", "stays"), [(HERE, True), (REMOTE, False)])
def test_a_login_by_a_variable_is_for_those_who_may_name_one(
    tmp_path: Path, reach: ConsoleReach, *, stays: bool
):
    job, log = sent(tmp_path, with_bean(LOGIN.replace("PASSWORD", "${env:WORD}")), reach)
    assert ("env: WORD" in (job / "crawl.yaml").read_text("utf-8")) is stays
    said = "WARNING fetch.credentials is left out: only administrators may change this"
    assert (said in log) is not stays


def test_what_a_migration_copies_itself_is_written(tmp_path: Path):
    beans = BEANS.replace("http://127.0.0.1:9/", "http://anna:hunter2@127.0.0.1:9/")
    beans = beans.replace("</beans>", SURTS.replace("PATH", "surts.txt") + "</beans>")
    job, log = sent(tmp_path, beans)
    text = (job / "crawl.yaml").read_text("utf-8")
    assert "- surts.txt" in text
    assert "file: logins/" in text
    assert "hunter2" not in text
    assert "SEVERE" not in log


@pytest.mark.parametrize(
    ("bean", "said"),
    [
        (WARCS, "WARNING archive.directories is left out: only administrators"),
        (SURTS, "SEVERE scope: only administrators"),
    ],
)
def test_files_elsewhere_are_for_those_who_may_name_them(tmp_path: Path, bean: str, said: str):
    other = tmp_path / "other.txt"
    other.write_text("http://(test,\n", "utf-8")
    job, log = sent(tmp_path, with_bean(bean.replace("PATH", str(other))))
    assert said in log
    assert str(other) not in (job / "crawl.yaml").read_text("utf-8")
    here = tmp_path / "here"
    here.mkdir()
    job, log = sent(here, with_bean(bean.replace("PATH", str(other))), HERE)
    assert said not in log
    assert str(other) in (job / "crawl.yaml").read_text("utf-8")


@pytest.mark.parametrize("name", ["/etc/hostname", "../other.txt", "logins/word", "word.txt"])
def test_no_file_of_the_machine_becomes_a_seed_list(tmp_path: Path, name: str):
    job = tmp_path / "crawls" / "x"
    (job / "logins").mkdir(parents=True)
    (job / "crawl.yaml").write_text("seeds: seeds.txt\n", "utf-8")
    for path in (job / "logins" / "word", job.parent / "other.txt", job / "word.txt"):
        path.write_text("hunter2\n", "utf-8")
    (job / "word.txt").chmod(0o600)
    job, log = sent(tmp_path, SEEDS.replace("PATH", name))
    assert "SEVERE" in log
    assert "only administrators may change this" in log
    assert not (job / "seeds.txt").exists()
    assert not (job / "migration-report.txt").exists()


def test_a_variable_of_the_machine_is_no_value_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LIBRARY", "hunter2")
    beans = BEANS.replace("http://a.test/", "http://a.test/#{systemEnvironment['LIBRARY']}")
    job, _ = sent(tmp_path, beans)
    assert "hunter2" not in "".join(p.read_text() for p in job.glob("*") if p.is_file())


def test_a_login_in_an_address_keeps_the_settings_from_being_written(tmp_path: Path):
    beans = BEANS.replace("http://a.test/", "http://anna:hunter2@a.test/")
    job, log = sent(tmp_path, beans, HERE)
    assert "SEVERE fetch.contact: a secret in plain text" in log
    assert "hunter2" not in (job / "crawl.yaml").read_text("utf-8")
    assert "hunter2" not in log
