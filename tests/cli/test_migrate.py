import json

from tests.cli.site import nacre

SITE = """<configuration>
<property><name>http.agent.url</name><value>http://a.test/</value></property>
<property><name>fetcher.server.delay</name><value>1</value></property>
</configuration>
"""


def test_a_job_that_checks_clean(tmp_path):
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "nutch-site.xml.template").write_text(SITE)
    (conf / "regex-urlfilter.txt.template").write_text("+.\n")
    (conf / "regex-normalize.xml").write_text("<regex-normalize/>")
    (conf / "seed.txt").write_text("http://b.test/\n")
    done = nacre("migrate", "nutch", conf, "--out", tmp_path / "job")
    assert done.code == 0, done.err
    assert "2 properties: 2 mapped, 0 defaulted, 0 flagged" in done.out
    checked = nacre("check", tmp_path / "job")
    assert (checked.code, checked.err) == (0, "")
    again = nacre("migrate", "nutch", conf, "--out", tmp_path / "job")
    assert (again.code, "a job already" in again.err) == (2, True)


def test_the_report_as_json(tmp_path):
    (tmp_path / "nutch-site.xml").write_text(SITE)
    done = nacre("migrate", "nutch", tmp_path, "--out", tmp_path / "job", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["counts"]["input"] == 2


def test_no_configuration(tmp_path):
    done = nacre("migrate", "nutch", tmp_path, "--out", tmp_path / "job")
    assert (done.code, "nutch-site.xml" in done.err) == (2, True)
    assert not (tmp_path / "job").exists()


def test_a_job_of_heritrix_checks_clean(tmp_path):
    (tmp_path / "crawler-beans.cxml").write_text(
        "<beans>\n<bean id='seeds' class='org.archive.modules.seeds.TextSeedModule'>"
        "<property name='textSource'><bean class='org.archive.spring.ConfigString'>"
        "<property name='value' value='http://b.test/'/></bean></property></bean>\n"
        "<bean id='disposition' class='org.archive.crawler.postprocessor.DispositionProcessor'>"
        "<property name='minDelayMs' value='1000'/></bean>\n</beans>\n"
    )
    where, out = tmp_path / "crawler-beans.cxml", tmp_path / "job"
    done = nacre("migrate", "heritrix", where, "--out", out, "--contact", "a@b.org")
    assert done.code == 0, done.err
    assert "3 beans, 3 properties: 6 mapped, 0 defaulted, 0 flagged" in done.out
    checked = nacre("check", tmp_path / "job")
    assert (checked.code, checked.err) == (0, "")
    absent = nacre("migrate", "heritrix", tmp_path / "order.xml", "--out", tmp_path / "other")
    assert (absent.code, "order.xml" in absent.err) == (2, True)
