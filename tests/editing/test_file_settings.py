import pytest

from nacre.editing.file_settings import changed_files, for_admins, named_files, stays_in_job


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("seeds: seeds.txt\n", ["seeds"]),
        ("seeds: [http://h.test/]\n", []),
        ("include: /etc/passwd\n", ["include"]),
        ("profile: ../evil.yaml\n", ["profile"]),
        ("profile: site\n", []),
        ("fetch: {proxy: {file: /etc/shadow}}\n", ["fetch.proxy.file"]),
        ("fetch: {proxy: {env: HOME}}\n", ["fetch.proxy.env"]),
        ("scope: [{rule: surt-prefixed, files: [a.txt]}]\n", ["scope.0.files"]),
        ("dns: {hosts: {a.test: 127.0.0.1}}\n", ["dns.hosts"]),
        ("sheets: {s: {cookies.load_file: x}}\n", ["sheets.s.cookies.load_file"]),
        ("sheets: {s: {cookies: {load_file: x}}}\n", ["sheets.s.cookies.load_file"]),
        ("network: {allow: [169.254.169.254/32]}\n", ["network.allow"]),
        ("network: {proxy_resolves: true}\n", ["network.proxy_resolves"]),
        ("cycle: {scratch: /srv, storage: 's3://b/p'}\n", ["cycle.scratch", "cycle.storage"]),
        ("cycle: {generate: {limits: /etc/passwd}}\n", ["cycle.generate.limits"]),
        ("alerts: {webhook: {url: 'http://10.0.0.1/'}}\n", ["alerts.webhook.url"]),
        ("archive: {outbackcdx: 'http://10.0.0.1/'}\n", ["archive.outbackcdx"]),
        ("fetch: {proxy: 'http://10.0.0.1:3128'}\n", ["fetch.proxy"]),
        ("fetch: {bind_address: 10.0.0.1}\n", ["fetch.bind_address"]),
        ("browser: {command: /tmp/x}\n", ["browser.command"]),
        ("browser: {isolation: none}\n", ["browser.isolation"]),
        ("browser: {use: always}\n", []),
        ("metrics: {listen: '0.0.0.0:9', public: true}\n", ["metrics.listen", "metrics.public"]),
        (
            "cycle: {index: {writers: [{writer: solr, url: 'http://s/', ca: /ca.pem}]}}\n",
            ["cycle.index.writers.0.url", "cycle.index.writers.0.ca"],
        ),
        ("cycle: {index: {writers: [solr]}}\n", ["cycle.index.writers.0.url"]),
        ("cycle: {index: {writers: [local, {writer: jsonl}]}}\n", []),
        ("scope: [{rule: geo-location, database: /etc/x}]\n", ["scope.0.database"]),
        ("scope: [{rule: OnHostsDecideRule, surtsSourceFile: /x}]\n", ["scope.0.files"]),
        (
            "scope: [{rule: NotSurtPrefixedDecideRule, surtsSource: {path: /x}}]\n",
            ["scope.0.of.files"],
        ),
        ("scope: [{rule: SurtPrefixedDecideRule}]\n", []),
        (
            "scope: [{rule: sequence, rules: [{rule: nutch-fast, file: x}]}]\n",
            [
                "scope.0.rules.0.file",
            ],
        ),
        (
            "scope: [{rule: nutch-filters, chain: [{filter: regex, file: x}]}]\n",
            [
                "scope.0.chain.0.file",
            ],
        ),
        (
            "chains: {fetch: {preselect: {gate: {rule: surt-prefixed, files: x}}}}\n",
            ["chains.fetch.preselect.gate.files"],
        ),
        (
            "chains: {candidate: {insert: [{processor: lexical-crawl-mapper, map_file: x}]}}\n",
            ["chains.candidate.insert.0.map_file"],
        ),
        (
            "a: &a {rule: surt-prefixed, files: [/etc/passwd]}\nscope: [*a]\n",
            ["a.files", "scope.0.files"],
        ),
        (
            "a: &a {files: [/etc/passwd]}\nscope: [{rule: surt-prefixed, <<: *a}]\n",
            ["a.files", "scope.0.files"],
        ),
        ("bogus: [{files: 中文}]\n", ["bogus.0.files"]),
    ],
)
def test_values_that_name_files_are_found(text: str, paths: list[str]):
    assert list(named_files(text)) == paths


def test_only_changes_count():
    assert changed_files("seeds: a.txt\n", "seeds: a.txt\nname: x\n") == []
    assert changed_files("seeds: a.txt\n", "seeds: /etc/hosts\n") == ["seeds"]
    two = "network: {allow: [10.0.0.0/8, 192.168.0.0/16]}\n"
    assert changed_files(two, "network: {allow: [192.168.0.0/16]}\n") == []
    assert changed_files(two, two.replace("10.0.0.0/8", "127.0.0.0/8")) == ["network.allow"]
    rule = "{rule: surt-prefixed, files: [a.txt]}"
    moved = f"scope: [accept, {rule}]\n"
    assert changed_files(f"scope: [{rule}]\n", moved) == []


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("seeds", "a file"),
        ("fetch.credentials.0.password.env", "a variable"),
        ("alerts.webhook.url", "a server"),
        ("network.allow", "networks"),
        ("browser.command", "a program"),
        ("metrics.listen", "a port"),
    ],
)
def test_the_problem_tells_what_a_setting_names(path: str, what: str):
    assert what in for_admins(path).message
    assert for_admins(path).path == path


@pytest.mark.parametrize(
    ("path", "value", "stays"),
    [
        ("scope.1.files", ["surts.txt", "lists/a.txt"], True),
        ("archive.directories", ["warcs"], True),
        ("archive.directories", ["warcs", "/srv/warcs"], False),
        ("scope.1.surts_file", "../a.txt", False),
        ("scope.1.surts_file", "logins/word", False),
        ("cookies.load_file", "~/cookies.txt", False),
        ("cookies.load_file", "${HOME}/cookies.txt", False),
        ("fetch.credentials.0.password.env", "WORD", False),
        ("dns.servers", ["192.0.2.1"], False),
        ("scope.1.files", {"a": "b"}, False),
    ],
)
def test_files_in_the_directory_of_the_job(path: str, value: object, *, stays: bool):
    assert stays_in_job(path, value) is stays
