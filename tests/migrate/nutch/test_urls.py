"""URL filters and normalizers of Nutch."""

from nacre_migrate.report import MigrationOutcome
from tests.migrate.nutch.conffiles import converted


def test_filters_in_their_order_with_files_and_inline_rules(tmp_path):
    site = {
        "plugin.includes": "urlfilter-(regex|suffix|prefix|fast|validator)|urlnormalizer-host",
        "urlfilter.order": "org.apache.nutch.urlfilter.suffix.SuffixURLFilter x.RegexURLFilter",
        "urlfilter.regex.rules": "+a",
        "urlfilter.fast.file": "f.txt",
        "urlfilter.fast.url.max.length": "99",
    }
    files = {"suffix-urlfilter.txt.template": "+\n.gif\n", "f.txt": "Host a\n"}
    said, report, found = converted(tmp_path, site, **files)
    rule = said.scope[1]
    assert rule.rule == "nutch-filters"
    assert [(f.filter.value, f.file, f.rules, f.max_length) for f in rule.chain] == [
        ("suffix", "suffix-urlfilter.txt", "", -1),
        ("fast", "f.txt", "", 99),
        ("regex", "", "+a\n", -1),
        ("validator", "", "", -1),
    ]
    # A prefix filter without its file, a normalizer without its own: told, not guessed.
    missing = [note.name for note in report.files if note.check]
    assert missing == ["prefix-urlfilter.txt", "host-urlnormalizer.txt"]
    assert all(finding.outcome is MigrationOutcome.MAPPED for finding in found.values())


def test_external_links_depth_and_the_basic_normalizer(tmp_path):
    site = {
        "plugin.includes": "urlfilter-ignoreexempt|scoring-depth|urlnormalizer-basic",
        "db.ignore.external.links": "true",
        "db.ignore.external.links.mode": "byDomain",
        "db.ignore.also.redirects": "false",
        "scoring.depth.max": "4",
        "urlnormalizer.basic.host.idn": "toAscii",
        "urlnormalizer.loop.count": "3",
    }
    files = {"db-ignore-external-exemptions.txt": "+png\n"}
    said, _, found = converted(tmp_path, site, **files)
    exempt, depth = said.scope[1:3]
    assert (exempt.site, exempt.also_redirects) == ("domain", False)
    assert exempt.file == "db-ignore-external-exemptions.txt"
    assert depth.max_hops == 3
    assert said.uri.normalize[0].idn == "ascii"
    assert said.uri.normalize_loops == 3
    assert {finding.outcome for finding in found.values()} == {MigrationOutcome.MAPPED}
