"""A migrated job has the seeds of its configuration, or says that it has none: no placeholder."""

import pytest

from tests.cli.site import nacre

SITE = """<configuration>
<property><name>http.agent.url</name><value>http://library.example/</value></property>
</configuration>
"""


def conf(folder):
    directory = folder / "conf"
    directory.mkdir()
    (directory / "nutch-site.xml").write_text(SITE)
    (directory / "regex-urlfilter.txt").write_text("+.\n")
    (directory / "regex-normalize.xml").write_text("<regex-normalize/>")
    return directory


def test_a_job_without_seeds_does_not_start(tmp_path):
    done = nacre("migrate", "nutch", conf(tmp_path), "--out", tmp_path / "job")
    assert done.code == 0, done.err
    assert "there are none yet" in done.out
    assert "example.test" not in (tmp_path / "job" / "seeds.txt").read_text()
    for command in ("check", "run"):
        said = nacre(command, tmp_path / "job")
        assert said.code == 2
        assert "there is no seed" in said.err


def test_nor_does_one_of_heritrix(tmp_path):
    file = tmp_path / "crawler-beans.cxml"
    file.write_text("<beans/>")
    done = nacre("migrate", "heritrix", file, "--out", tmp_path / "job", "--contact", "a@b.org")
    assert done.code == 0, done.err
    said = nacre("check", tmp_path / "job")
    assert (said.code, "there is no seed" in said.err) == (2, True)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_seeds_where_the_tutorial_has_them_in_any_encoding(tmp_path, encoding):
    directory = conf(tmp_path)
    (tmp_path / "urls").mkdir()
    lines = (
        "# 政府网站与图书馆的种子列表 每行一个地址",
        "http://www.图书馆.example/新闻/通知公告.html\tnutch.score=2",
        "http://site.example/",
    )
    (tmp_path / "urls" / "seed.txt").write_bytes("\r\n".join(lines).encode(encoding))
    done = nacre("migrate", "nutch", directory, "--out", tmp_path / "job")
    assert done.code == 0, done.err
    seeds = (tmp_path / "job" / "seeds.txt").read_text("utf-8").splitlines()
    assert seeds == [*lines]
    assert nacre("check", tmp_path / "job").code == 0
