import pytest

from nacre.editing.file_settings import changed_files, named_files, stays_in_job


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
    ],
)
def test_values_that_name_files_are_found(text: str, paths: list[str]):
    assert list(named_files(text)) == paths


def test_only_changes_count():
    assert changed_files("seeds: a.txt\n", "seeds: a.txt\nname: x\n") == []
    assert changed_files("seeds: a.txt\n", "seeds: /etc/hosts\n") == ["seeds"]


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
