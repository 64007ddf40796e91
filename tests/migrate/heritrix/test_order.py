"""Orders of Heritrix 1, written after its default profile."""

import shutil
from pathlib import Path

import pytest

from nacre.config.check import load
from nacre.config.layer import Layer
from nacre.settings.settings import JobSettings
from nacre_migrate.files import open_xml
from nacre_migrate.heritrix.convert import convert
from nacre_migrate.report import Flag, MigrationOutcome

ORDER = Path(__file__).parent / "order.xml"
_VALUES = {"string", "integer", "long", "float", "boolean", "text", "stringList", "map"}


@pytest.fixture
def folder(tmp_path):
    shutil.copy(ORDER, tmp_path)
    (tmp_path / "seeds.txt").write_text("http://news.example/\n+http://(example,cdn,\n")
    return tmp_path


def converted(folder: Path):
    draft, report = convert(folder / "order.xml")
    said = load(JobSettings, [Layer("option", draft.tree())]).settings
    return said, draft, {finding.name: finding for finding in report.findings}, report


def changed(folder: Path, *swaps: tuple[str, str]):
    text = (folder / "order.xml").read_text()
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new)
    (folder / "order.xml").write_text(text)
    return converted(folder)


def test_the_whole_order(folder):
    said, draft, found, report = converted(folder)
    assert [one.rule for one in said.scope] == [
        "reject", "surt-prefixed", "too-many-hops", "transclusion", "matches-list-regex",
        "pathological-path", "prerequisite-accept",
    ]  # fmt: skip
    assert said.scope[4].regexes == (".*/calendar/.*", ".*[?&]sid=.*")
    assert (said.name, said.engine.parallel, said.engine.source_tags) == ("news", 100, True)
    assert (said.politeness.min_delay, said.politeness.max_delay) == (2.0, 20.0)
    assert (said.frontier.cost, said.frontier.queue_assignment.policy) == ("zero", "hostname")
    assert (said.fetch.contact, said.fetch.mail_from) == (
        "http://library.example/bot", "li@library.example",
    )  # fmt: skip
    assert said.fetch.user_agent == JobSettings().fetch.user_agent
    assert said.robots.ttl == 43_200.0
    assert [step.rule for step in said.uri.canonical] == ["Lowercase", "Regex"]
    assert not said.extract.extract_css
    assert (said.archive.prefix, said.archive.directories) == ("NEWS", ("arcs",))
    assert (said.limits.bytes, said.limits.time) == (5_000_000, 3600.0)
    assert draft.seeds == ["http://news.example/", "+http://(example,cdn,"]
    assert report.counts()["flagged"] == 0
    assert found["frontier.delay-factor"].line == 73


def test_all_of_it_is_accounted_for(folder):
    _, _, _, report = converted(folder)
    root = open_xml(ORDER)
    inside = [one for lists in root.walk() if lists.tag == "stringList" for one in lists.children]
    values = [one for one in root.walk() if one.tag in _VALUES and one not in inside]
    meta = [one for element in root.find_all("meta") for one in element.children]
    kinds = report.as_json()["kinds"]
    # Beside the modules: meta, controller and the headers; the map of headers is one of these.
    assert kinds["bean"] == sum(one.tag == "newObject" for one in root.walk()) + 3
    assert kinds["property"] == len(values) + len(meta) - 1
    assert sum(report.counts().values()) == len(report.findings)


def test_settings_of_a_host_become_a_sheet(folder):
    place = folder / "settings" / "org" / "example"
    place.mkdir(parents=True)
    (place / "settings.xml").write_text(
        "<crawl-settings><object name='frontier'>\n"
        "<integer name='min-delay-ms'>60000</integer></object>\n"
        "<object name='scope'><object name='decide-rules'><map name='rules'>\n"
        "<object name='rejectIfTooManyHops'><integer name='max-hops'>2</integer></object>\n"
        "</map></object></object>\n"
        "<object name='nobody'><integer name='x'>1</integer></object>\n"
        "<refinement/></crawl-settings>"
    )
    said, _, found, _ = converted(folder)
    assert said.sheets["example-org"] == {
        "politeness.min_delay": 60.0,
        "scope.rejectIfTooManyHops.max_hops": 2,
    }
    assert said.sheet_associations[0].surts == ("http://(org,example,",)
    assert found["frontier.min-delay-ms"].target == "politeness.min_delay"
    assert found["nobody.x"].flag is found["<refinement>"].flag is Flag.CHECK
    assert found["nobody.x"].file == "settings/org/example/settings.xml"


@pytest.mark.parametrize(
    ("policy", "values"),
    [
        ("ignore", {"robots.policy": "ignore", "extract.obey_meta_robots": False}),
        ("classic", {"robots.policy": "obey", "extract.obey_meta_robots": True}),
        ("custom", {"robots.policy": "custom", "extract.obey_meta_robots": False}),
        ("most-favored", {"robots.policy": "obey", "extract.obey_meta_robots": True}),
        ("most-favored-set", {"robots.policy": "obey", "extract.obey_meta_robots": True}),
        ("nonsense", {}),
    ],
)
def test_the_robots_policy_of_a_host(folder, policy, values):
    place = folder / "settings" / "org" / "example"
    place.mkdir(parents=True)
    (place / "settings.xml").write_text(
        "<crawl-settings><object name='robots-honoring-policy'>"
        f"<string name='type'>{policy}</string>"
        "<text name='custom-robots'>User-agent: *\nDisallow: /x</text>"
        "<stringList name='user-agents'><string>a</string><string>b</string></stringList>"
        "</object></crawl-settings>"
    )
    said, _, found, _ = converted(folder)
    assert said.sheets["example-org"] == {
        **values, "robots.custom": "User-agent: *\nDisallow: /x", "robots.agent": "a, b",
    }  # fmt: skip
    flag = found["robots-honoring-policy.type"].flag
    assert (flag is Flag.CHECK) is (policy in {"nonsense", "most-favored", "most-favored-set"})


@pytest.mark.parametrize(
    ("kind", "focus"),
    [
        ("scope.BroadScope", "accept"),
        ("scope.DomainScope", "on-domains"),
        ("scope.HostScope", "on-hosts"),
        ("scope.PathScope", "surt-prefixed"),
        ("scope.SurtPrefixScope", "surt-prefixed"),
    ],
)
def test_old_scopes(folder, kind, focus):
    old = (
        f'<newObject name="scope" class="org.archive.crawler.{kind}">'
        '<string name="seedsfile">seeds.txt</string>'
        '<integer name="max-link-hops">25</integer><integer name="max-trans-hops">5</integer>'
        '<newObject name="exclude-filter" class="org.archive.crawler.filter.OrFilter">'
        '<map name="filters">'
        '<newObject name="deep" class="org.archive.crawler.filter.PathDepthFilter">'
        '<integer name="max-path-depth">9</integer></newObject>'
        '<newObject name="no" class="org.archive.crawler.filter.URIRegExpFilter">'
        '<string name="regexp">.*no.*</string></newObject>'
        "</map></newObject></newObject>"
    )
    text = (folder / "order.xml").read_text()
    start, end = text.index('<newObject name="scope"'), text.index('<map name="http-headers">')
    (folder / "order.xml").write_text(text[:start] + old + text[end:])
    said, _, found, report = converted(folder)
    assert [one.rule for one in said.scope] == [
        "reject", focus, "too-many-link-hops", "transclusion", "too-many-path-segments",
        "matches-regex", "prerequisite-accept", "seed-accept", "scheme-not-in-set",
    ]  # fmt: skip
    assert said.scope[4].max_path_depth == 9
    assert found["no.regexp"].outcome is MigrationOutcome.MAPPED
    assert report.counts()["flagged"] == 0


def evaluator(name, kind, **values):
    said = "".join(f'<string name="{k.replace("_", "-")}">{v}</string>' for k, v in values.items())
    return f'<newObject name="{name}" class="org.archive.x.{kind}">{said}</newObject>'


def test_the_frontier_that_visits_again(folder):
    waits = (
        evaluator("text", "ContentBasedWaitEvaluator", content_regex="^text/.*$",
                  initial_wait_interval_seconds=7200, unchanged_factor=2.0)
        + evaluator("odd", "ContentBasedWaitEvaluator", content_regex="^video/.*$",
                    initial_wait_interval_seconds=60)
        + evaluator("wait", "WaitEvaluator", initial_wait_interval_seconds=86400,
                    unchanged_factor=3.0, changed_factor=4, max_wait_interval_seconds=864000,
                    min_wait_interval_seconds="soon", use_overdue_time="true")
    )  # fmt: skip
    said, _, found, _ = changed(
        folder,
        ("frontier.BdbFrontier", "frontier.AdaptiveRevisitFrontier"),
        ('ExtractorHTTP"/>', f'ExtractorHTTP"/>{waits}'),
    )
    schedule = said.recrawl.schedule
    assert (schedule.kind, found["frontier"].outcome) == ("heritrix", MigrationOutcome.MAPPED)
    times = schedule.heritrix
    assert (times.first, times.first_text, times.first_image) == (86400, 7200, 86400)
    assert (times.grow, times.shrink, times.longest) == (2.0, 0.25, 864000)
    assert found["text.initial-wait-interval-seconds"].outcome is MigrationOutcome.MAPPED
    flagged = {name for name, one in found.items() if one.flag is Flag.CHECK}
    assert flagged >= {
        "odd.content-regex", "odd.initial-wait-interval-seconds", "wait.unchanged-factor",
        "wait.min-wait-interval-seconds",
    }  # fmt: skip


def test_robots_and_user_agents(folder):
    said, _, found, _ = changed(
        folder,
        ('<string name="type">classic', '<string name="type">custom'),
        ('<text name="custom-robots"/>', '<text name="custom-robots">User-agent: *</text>'),
        ("heritrix/1.14.4 +http://library.example/bot", "newsbot/3 +http://n.example/"),
    )
    assert (said.robots.policy, said.robots.custom) == ("custom", "User-agent: *")
    assert said.fetch.user_agent == "Mozilla/5.0 (compatible; newsbot/3 +{contact})"
    assert (said.fetch.contact, said.robots.agent) == ("http://n.example/", "newsbot")
    _, _, found, _ = changed(folder, ("http://n.example/", "PROJECT_URL_HERE"))
    assert found["http-headers.user-agent"].flag is Flag.CHECK
