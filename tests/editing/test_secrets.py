import pytest

from nacre.editing.secrets import plain_secrets, plain_secrets_in, with_secrets, without_secrets
from nacre.errors import ConfigError

SAVED = """\
# 登录 password: altes-geheimnis
fetch:
  credentials:
    - {origin: "http://a.test", username: anna, password: "hunter2"}
    - origin: http://b.test  # 中文注释
      username: bert
      password: |
        mehr
        zeilen
    - origin: http://c.test
      username: cleo
      password: {env: CLEO}
  proxy: http://user:pa55@proxy.test:3128
seeds: [http://u:p4@h.test/]
sheets:
  s:
    fetch.proxy: socks5://x:y9@q.test
alerts:
  webhook: {secret: 's3cret!', url: https://w.test/}
"""
PEM = """\
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----"""
HIDDEN = ("altes-geheimnis", "hunter2", "mehr", "zeilen", "pa55", "p4", "y9", "s3cret!")


def test_no_secret_is_shown_and_the_rest_is():
    shown = without_secrets(SAVED).text
    assert not [word for word in HIDDEN if word in shown]
    for kept in (
        "中文注释",
        "{env: CLEO}",
        "username: bert",
        "https://w.test/",
        "origin: http://b.test",
    ):
        assert kept in shown


def test_what_was_hidden_is_put_back():
    shown = without_secrets(SAVED).text
    assert with_secrets(shown, SAVED) == SAVED
    changed = shown.replace("username: bert", "username: berta")
    assert with_secrets(changed, SAVED) == SAVED.replace("username: bert", "username: berta")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{env: CLEO}", "geheim", "a secret in plain text"),
        ("{env: CLEO}", "NOT-SHOWN-99", "stands for no secret"),
        ("username: cleo", "username: NOT-SHOWN-2", "would be shown here"),
        ("https://w.test/", "https://x:y@w.test/", "a secret in plain text"),
    ],
)
def test_secrets_are_not_entered_and_not_moved(old: str, new: str, said: str):
    shown = without_secrets(SAVED).text
    with pytest.raises(ConfigError, match=said):
        with_secrets(shown.replace(old, new), SAVED)


def test_a_broken_text_hides_what_its_lines_say():
    shown = without_secrets(SAVED + "x: [unclosed\n").text
    assert not [word for word in HIDDEN if word in shown]


def test_aliases_stay():
    one = "{origin: 'http://a.test', username: a, password: *p}"
    text = f"x: &p hunter2\nfetch:\n  credentials: [{one}]\n"
    shown = without_secrets(text)
    assert "hunter2" not in shown.text
    assert "&p NOT-SHOWN-1" in shown.text
    assert with_secrets(shown.text, text) == text


@pytest.mark.parametrize(
    ("text", "is_readable"),
    [
        ("sheets:\n  a:\n    identity.key: |\n{}\nname: x\n", True),
        ("sheets: {{a: {{identity: {{key: |\n{}\nname: x\n", False),
        ("# 旧密钥\n# {}\nname: x\n", True),
        ("description: |\n{}\nname: x\n", True),
        ("name: x\nidentity:\n  ky: [\n{}", False),
    ],
)
def test_a_private_key_is_hidden_at_each_place(text: str, is_readable: bool):
    for pem in (PEM, PEM.rpartition("\n")[0]):  # with its end, and without
        indented = "".join(f"      {line}\n" for line in pem.split("\n"))
        full = text.format(indented)
        shown = without_secrets(full)
        assert "MC4CAQAwBQYDK2VwBCIEI" not in shown.text
        if pem == PEM:
            assert "name: x" in shown.text
        if is_readable:
            assert with_secrets(shown.text, full) == full


def test_a_reference_is_no_secret():
    assert plain_secrets("fetch: {proxy: 'http://proxy.test:3128'}\n") == []
    assert plain_secrets("fetch: {proxy: {file: secrets/proxy}}\n") == []
    assert [
        one.line for one in plain_secrets("name: x\nfetch: {proxy: 'http://a:b@p.test'}\n")
    ] == [2]


def test_a_misspelt_secret_is_one():
    one = "{origin: 'http://a.test', username: anna, pasword: hunter2}"
    text = f"fetch:\n  credentials: [{one}]\n  Proxy: http://a:b@h.test/\n  timout: 50\n"
    shown = without_secrets(text).text
    assert "hunter2" not in shown
    assert "timout: 50" in shown
    assert with_secrets(shown, text) == text


@pytest.mark.parametrize(
    ("tree", "paths"),
    [
        ({"alerts": {"webhook": {"secret": "s3cret"}}}, ["alerts.webhook.secret"]),
        ({"alerts": {"webhook": {"secret": {"env": "WORD"}}}}, []),
        ({"fetch": {"credentials": [{"password": 12345}]}}, ["fetch.credentials.0.password"]),
        ({"fetch": {"credentials": [{"password": {"file": "a"}}, {"password": None}]}}, []),
        ({"fetch": {"proxy": "http://proxy.test:3128"}}, []),
        ({"name": "x # http://a:b@c.test/"}, ["name"]),
        ({"sheets": {"a": {"fetch.proxy": "socks5://a:b@c.test"}}}, ["sheets.a.fetch.proxy"]),
        ({"identity": {"key": "MC4C"}}, ["identity.key"]),
        ({"sheets": {"a": {"identity.key": "MC4C"}}}, ["sheets.a.identity.key"]),
        ({"sheets": {"a": {"identity": {"key": "MC4C"}}}}, ["sheets.a.identity.key"]),
        ({"sheets": {"a": {"identity": {"key": {"file": "a"}}}, "b": {"identity.key": ""}}}, []),
        ({"sheets": {"a": None, "b": "c"}, "name": "x"}, []),
        ({"name": f"my {PEM}"}, ["name"]),
        ([], []),
        (None, []),
    ],
)
def test_secrets_of_settings_that_are_no_text(tree: object, paths: list[str]):
    assert [one.path for one in plain_secrets_in(tree)] == paths
    assert {one.message for one in plain_secrets_in(tree)} <= {"a secret in plain text"}
