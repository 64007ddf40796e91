from pathlib import Path

import pytest

from nacre.errors import ConfigError, URIError
from nacre.machine.layout import Layout
from nacre.ops.url_rules import (
    UrlVerdict,
    filters_of_files,
    normalizers_of_files,
    scope_of_job,
)
from nacre.scope.normalize.chain import NormalizeScope
from nacre.scope.nutch.filters import FilterKind
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings
from tests.cli.site import nacre


def test_all_files_of_rules_must_accept_a_url(tmp_path: Path):
    suffixes, prefixes = tmp_path / "suffixes", tmp_path / "prefixes"
    prefixes.write_text("http://a.test/\n")
    suffixes.write_bytes("+\n.gif\n.图\n".encode())
    judge = filters_of_files([(prefixes, FilterKind.PREFIX), (suffixes, FilterKind.SUFFIX)])
    urls = ("http://a.test/x", "http://a.test/x.gif", "http://b.test/", "http://a.test/x.图")
    assert [judge(url).accepted for url in urls] == [True, False, False, False]
    with pytest.raises(ConfigError, match="absent"):
        filters_of_files([(tmp_path / "absent", FilterKind.PREFIX)])


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("http://a.test/x/", UrlVerdict(accepted=True, rule="surt-prefixed")),
        ("http://a.test/x/中", UrlVerdict(accepted=True, rule="surt-prefixed")),
        ("http://a.test/z", UrlVerdict(accepted=False, rule="reject")),
    ],
)
def test_the_scope_of_a_job_tests_seeds_and_links(tmp_path: Path, url: str, verdict: UrlVerdict):
    assert nacre("new", tmp_path / "job", "http://a.test/x/").code == 0
    layout = Layout(tmp_path / "job")
    judge = scope_of_job(layout, load_job(layout).settings)
    assert judge(url) == verdict
    assert judge("no url").rule.startswith("no URL: ")


def test_a_url_without_a_normal_form_is_out_of_scope(tmp_path: Path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://a.test/").code == 0
    (job / "rules.xml").write_text(
        "<regex-normalize><regex><pattern>^.*session.*$</pattern><substitution></substitution>"
        "</regex></regex-normalize>"
    )
    (job / "crawl.yaml").write_text(
        "seeds: [http://a.test/]\nscope: [{rule: accept}]\n"
        "uri: {normalize: [{normalizer: regex, file: rules.xml}]}\n"
    )
    layout = Layout(job)
    judge = scope_of_job(layout, load_job(layout).settings)
    assert judge("http://a.test/?session=1") == UrlVerdict(accepted=False, rule="uri.normalize")
    assert judge("http://a.test/?s=1").accepted


def test_normalizers_raise_an_error_for_a_text_without_a_normal_form():
    chosen = JobSettings.model_validate({"uri": {"normalize": ["basic"]}}).uri.normalize
    normalize = normalizers_of_files(chosen, NormalizeScope.DEFAULT)
    assert normalize("HTTP://A.test/%7ex") == "http://a.test/~x"
    with pytest.raises(URIError):
        normalize("no url")
