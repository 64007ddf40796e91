import json
from pathlib import Path

from tests.cli.site import nacre
from tests.rounds.moving.hadoop_files import datum, map_file

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


def test_seeds_of_nutch_are_injected_with_their_metadata(tmp_path: Path):
    conf, job = tmp_path / "conf", tmp_path / "job"
    conf.mkdir()
    (conf / "nutch-site.xml").write_text("<configuration></configuration>")
    line = "http://a.test/新闻\tnutch.score=2.5\tnutch.fetchInterval=86400\t语言=zh\n"
    (conf / "seed.txt").write_bytes(line.encode("gb18030"))
    assert nacre("migrate", "nutch", conf, "--out", job).code == 0
    done = nacre("cycle", job, "inject")
    assert (done.code, done.out) == (
        0,
        "1 seed, 1 new; scores of 1 seed are in the column cash (cycle.scoring)\n",
    ), done.err
    query = "select key, score + cash as score, interval, seed_md from crawldb"
    (row,) = json.loads(nacre("cycle", job, "sql", query, "--json").out)
    assert row == {
        "key": "http://a.test/%E6%96%B0%E9%97%BB",
        "score": 2.5,
        "interval": 86400,
        "seed_md": {"语言": "zh"},
    }


def test_a_crawldb_of_nutch_comes_with_its_configuration(tmp_path: Path):
    (tmp_path / "nutch-site.xml").write_text(SITE)
    (tmp_path / "seed.txt").write_text("http://b.test/\n")
    rows = [(f"http://b.test/{number}", datum(1 + number % 3, 1000)) for number in range(9)]
    map_file(tmp_path / "crawldb", rows)
    words = ("migrate", "nutch", tmp_path, "--out", tmp_path / "job")
    refused = nacre(*words, "--linkdb", tmp_path / "crawldb")
    assert (refused.code, "is no linkdb" in refused.err) == (2, True)
    assert not (tmp_path / "job").exists()
    done = nacre(*words, "--crawldb", tmp_path / "crawldb")
    assert done.code == 0, done.err
    assert "9 records: 9 URLs, 9 new" in done.out
    stats = json.loads(nacre("cycle", tmp_path / "job", "readdb", "--stats", "--json").out)
    assert stats["total"] == 9
