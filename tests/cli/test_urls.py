import io
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.cli.urls import MAX_LINE, answers, text_of
from tests.cli.site import nacre, nacre_bytes, site

REGEX = "# c\n-\\.gif$\n+^http:\n"


def run(*args: object, stdin: bytes = b"", cwd: Path | None = None) -> tuple[int, bytes, str]:
    with chdir(cwd or "."):
        code, out, err = nacre_bytes(*args, stdin=stdin)
    return code, out, err.decode()


def test_a_process_answers_the_same(tmp_path):
    (tmp_path / "regex-urlfilter.txt").write_text(REGEX)
    command = ["filter", "--rules", "regex-urlfilter.txt"]
    stdin = b"http://a/\nhttp://a/x.gif\r\nhttp://\xff/\n\xff\n"
    done = subprocess.run(
        [sys.executable, "-m", "nacre", *command], input=stdin, capture_output=True, cwd=tmp_path
    )
    assert done.stdout.count(b"\n") == 4
    said = done.returncode, done.stdout, done.stderr.decode()
    assert said == run(*command, stdin=stdin, cwd=tmp_path)


def test_filter_by_files_whose_names_tell_the_kind(tmp_path):
    (tmp_path / "regex-urlfilter.txt").write_text(REGEX)
    (tmp_path / "suffix-urlfilter.txt").write_text("+\n.css\n")
    rules = ["--rules", "regex-urlfilter.txt", "--rules", "suffix-urlfilter.txt"]
    stdin = b"http://a/\nhttp://a/x.gif\r\nhttp://a/x.css\n\xff\n"
    code, out, _ = run("filter", *rules, stdin=stdin, cwd=tmp_path)
    assert (code, out) == (0, b"+http://a/\n-http://a/x.gif\n-http://a/x.css\n-\xff\n")
    _, out, _ = run("filter", *rules, "--why", stdin=stdin[10:25], cwd=tmp_path)
    assert out == b"-http://a/x.gif\tregex-urlfilter.txt:2\n"


def test_filter_by_type(tmp_path):
    (tmp_path / "r").write_text("http:\n")
    (tmp_path / "s").write_text("+.*\n")
    both = ["--rules", "r", "--rules", "s", "--type", "prefix", "--type", "automaton"]
    assert run("filter", *both, stdin=b"http://a", cwd=tmp_path)[1] == b"+http://a\n"
    assert run("filter", "--type", "validator", stdin=b"http://a")[1] == b"-http://a\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "name either"),
        (["--rules", "r", "--job", "x"], "name either"),
        (["--type", "nothing", "--rules", "r"], "none of regex, automaton"),
        (["--type", "prefix"], "only the validator"),
        (["--rules", "r"] * 3 + ["--type", "prefix", "--type", "regex"], "once for"),
        (["--rules", "absent.txt"], "absent.txt: cannot be read"),
        (["--rules", "r"], "r:1: 'x' begins neither"),
    ],
)
def test_filter_refuses(tmp_path, args, words):
    (tmp_path / "r").write_text("x\n")
    code, out, err = run("filter", *args, cwd=tmp_path)
    assert (code, out) == (2, b"")
    assert words in err


def test_filter_by_the_scope_of_a_job(tmp_path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://a.test/x/").code == 0
    stdin = b"http://a.test/x/y\nhttp://a.test/z\nno url\nhttp://a.test/x/\n"
    code, out, err = run("filter", "--job", job, "--why", stdin=stdin)
    assert code == 0, err
    assert [line[:1] for line in out.splitlines()] == [b"+", b"-", b"-", b"+"]
    assert out.splitlines()[0].endswith(b"\tsurt-prefixed")


def test_filter_by_a_job_with_rules_of_nutch(tmp_path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://a.test/").code == 0
    (job / "r.txt").write_text("+x=1$\n")
    text = "scope: [{rule: accept}, {rule: nutch-regex, file: r.txt}]\n"
    text += "uri: {normalize: [basic, querystring]}\n"
    (job / "crawl.yaml").write_text(text)
    assert run("filter", "--job", job, stdin=b"http://a.test/?x=1&a#b")[1][:1] == b"+"
    assert nacre("check", job).code == 0
    (job / "r.txt").write_text("x=1$\n")
    done = nacre("check", job)
    assert (done.code, "r.txt:1: scope.1: 'x=1$' begins" in done.err) == (2, True)


def test_normalize(tmp_path):
    (tmp_path / "regex-normalize.xml").write_text(
        "<regex-normalize><regex><pattern>^http:</pattern><substitution>https:</substitution>"
        "</regex></regex-normalize>"
    )
    stdin = b"HTTP://A/?b&a\nno url\n\nhttp://a/\xff\n"
    code, out, _ = run("normalize", "--normalizers", "basic, querystring", stdin=stdin)
    assert (code, out) == (0, b"http://a/?a&b\n\n\nhttp://a/%EF%BF%BD\n")
    _, out, _ = run("normalize", "--rules", "regex-normalize.xml", stdin=b"http://a/", cwd=tmp_path)
    assert out == b"https://a/\n"
    ajax = ["--normalizers", "ajax", "--scope", "indexer"]
    assert run("normalize", *ajax, stdin=b"http://a/?_escaped_fragment_=x")[1] == b"http://a/#!x\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--scope", "nothing"], "none of default"),
        (["--normalizers", "nothing"], "--normalizers nothing: none of basic, regex"),
        (["--rules", "x.txt"], "does not say which"),
        (["--rules", "host.txt", "--normalizers", "basic"], "does not name host"),
    ],
)
def test_normalize_refuses(args, words):
    code, out, err = run("normalize", *args)
    assert (code, out) == (2, b"")
    assert words in err


def test_nobody_reads_on(tmp_path):
    command = [sys.executable, "-m", "nacre", "filter", "--type", "validator"]
    (tmp_path / "urls").write_bytes(b"http://a.org/\n" * 500_000)
    with (tmp_path / "urls").open("rb") as urls:
        process = subprocess.Popen(
            command, stdin=urls, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"+http://a.org/\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=60) == 0


def test_a_crawl_by_filters_and_normalizers_of_nutch(tmp_path):
    job = tmp_path / "job"
    with site() as home:
        assert nacre("new", job, home + "c.html", home).code == 0
        (job / "filters.txt").write_text("-/secret/\n+^http://127\n")
        (job / "replace.xml").write_text(
            "<regex-normalize><regex><pattern>/c\\.html$</pattern>"
            "<substitution>/b.html</substitution></regex></regex-normalize>"
        )
        (job / "crawl.yaml").write_text(
            "politeness: {delay: 0}\n"
            "scope: [{rule: accept}, {rule: nutch-regex, file: filters.txt}]\n"
            "uri: {normalize: [querystring, {normalizer: regex, file: replace.xml}]}\n"
        )
        done = nacre("run", job, "--quiet")
        assert done.code == 0, done.err
        log = (job / "latest" / "logs" / "crawl.log").read_text()
        fetched = {line.split()[3].removeprefix(home) for line in log.splitlines()}
        assert {"", "a.html", "b.html", "i.png"} <= fetched
        assert not {"c.html", "secret/x.html", "http://elsewhere.test/"} & fetched
        told = nacre("explain", job, "http://elsewhere.test/").out
        assert "refused by the rule nutch-regex" in told
        told = nacre("explain", job, home + "c.html").out
        assert told.startswith(home + "b.html")


class Slow(io.BytesIO):
    """Gives a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._step)


def answered(data: bytes, step: int = 7, *, echo: bool = True) -> bytes:
    return b"".join(answers(Slow(data, step), lambda line: b"+" + line, b"-", echo=echo))


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (b"a\nb\n", b"+a\n+b\n"),
        (b"a\r\nb\rc\r", b"+a\n+b\rc\n"),
        (b"\n\na", b"+\n+\n+a\n"),
        (b"", b""),
        (b"\x00\xff\n", b"+\x00\xff\n"),
    ],
)
def test_one_answer_for_each_line(data, output):
    assert answered(data) == output


@pytest.mark.parametrize("step", [1000, 65536, 10**6])
def test_lines_too_long_are_refused_and_written_through(step):
    long = b"x" * (MAX_LINE + 1)
    data = b"a\n" + long + b"\nb\n" + long
    assert answered(data, step) == b"+a\n-" + long + b"\n+b\n-" + long + b"\n"
    assert answered(data, step, echo=False) == b"+a\n-\n+b\n-\n"
    assert answered(b"x" * MAX_LINE, step) == b"+" + b"x" * MAX_LINE + b"\n"


def test_an_answer_comes_before_the_next_line_does():
    pieces = answers(Slow(b"a\nb\n", 2), lambda line: line, b"", echo=False)
    assert next(pieces) == b"a\n"


@given(st.lists(st.binary(max_size=9)), st.integers(1, 9))
def test_however_the_bytes_come(lines, step):
    data = b"\n".join(lines)
    assert answered(data, step) == answered(data, 10**6)


def test_text_of_any_bytes():
    assert text_of("é".encode() + b"\xff") == "é\ufffd"
