import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.frontier.assignment import core_key, jump_hash, moves, needs_address, split_key
from nacre.frontier.settings import (
    FrontierSettings,
    QueueAssignment,
    QueuePrecedence,
    UriPrecedence,
)

URL = "http://www.example.co.uk/a/b.html"
names = st.lists(st.sampled_from(["a", "www", "example", "co", "uk", "com"]), min_size=1).map(
    ".".join
)


@pytest.mark.parametrize(
    ("settings", "url", "key"),
    [
        ({}, URL, "uk,co,example,www,"),
        ({}, "https://www.example.co.uk/", "uk,co,example,www,"),
        ({}, "http://example.com:8080/", "com,example,#8080"),
        ({}, "http://10.0.0.1/", "10.0.0.1"),
        ({}, "mailto:a", "default..."),
        ({"labels": 2}, URL, "uk,co,"),
        ({"labels": 3}, URL, "uk,co,example,"),
        ({"labels": 9}, URL, "uk,co,example,www,"),
        ({"labels": 2}, "http://www.example.com:8080/", "com,example,#8080"),
        ({"labels": 2}, "http://10.0.0.1:81/", "10.0.0.1#81"),
        ({"policy": "hostname"}, URL, "www.example.co.uk"),
        ({"policy": "hostname"}, "https://www.example.co.uk/", "www.example.co.uk#443"),
        ({"policy": "hostname"}, "https://a.b:444/", "a.b#444"),
        ({"policy": "hostname"}, "http://a.b:81/", "a.b#81"),
        ({"policy": "hostname", "labels": 2}, "http://www.a.example.com/", "example.com"),
        ({"policy": "assignment-level-surt"}, URL, "uk,co,example,"),
        ({"policy": "assignment-level-surt"}, "http://10.0.0.1:81/", "10.0.0.1#81"),
        ({"policy": "assignment-level-surt"}, "mailto:a", "default..."),
        ({"policy": "ip"}, "https://a.b/", "a.b#443"),
        ({"policy": "bucket"}, "mailto:a", "NO-HOST"),
        ({"force": "one"}, URL, "one"),
        ({"policy": "ip", "force": "one"}, URL, "one"),
        ({"force": "one"}, "whois:example.com", "whois..."),
    ],
)
def test_keys(settings: dict[str, object], url: str, key: str) -> None:
    assert core_key(QueueAssignment.model_validate(settings), url) == key


def test_keys_by_address() -> None:
    by_ip = QueueAssignment(policy="ip")
    assert core_key(by_ip, URL, ("192.0.2.1", "192.0.2.2")) == "192.0.2.1"
    bucket = QueueAssignment(policy="bucket", buckets=10)
    known = {core_key(bucket, URL, (f"192.0.2.{n}",)) for n in range(200)}
    assert known == {str(n) for n in range(10)}
    unknown = {core_key(bucket, f"http://h{n}.example/") for n in range(50)}
    assert len(unknown) > 40
    assert all(key.startswith("NO-IP-") for key in unknown)


@given(names, st.integers(1, 6))
def test_a_cut_key_begins_the_whole_one(host: str, labels: int) -> None:
    url = f"http://{host}/"
    cut = core_key(QueueAssignment(labels=labels), url)
    assert core_key(QueueAssignment(), url).startswith(cut)
    assert cut.count(",") == min(labels, host.count(".") + 1)


def test_queues_split_by_directory_or_by_url() -> None:
    by_path = QueueAssignment(parallel_queues=4)
    below = {split_key(by_path, "k", f"http://a/dir/{n}") for n in range(30)}
    assert len(below) == 1
    spread = {split_key(by_path, "k", f"http://a/{n}/x") for n in range(100)}
    assert spread == {"k", "k+1", "k+2", "k+3"}
    for shallow in ("http://a/", "http://a/page", "http://a", "http://a/page?x=/y/"):
        assert split_key(by_path, "k", shallow) == "k"
    by_url = QueueAssignment(parallel_queues=4, parallel_by="url")
    assert {split_key(by_url, "k", f"http://a/{n}") for n in range(100)} == spread
    assert split_key(by_url, "default...", "x:y") == "default..."
    assert split_key(QueueAssignment(), "k", "http://a/1/2") == "k"


@given(st.text(max_size=20), st.integers(1, 200))
def test_one_bucket_more_moves_to_that_one_only(text: str, buckets: int) -> None:
    before, after = jump_hash(text, buckets), jump_hash(text, buckets + 1)
    assert 0 <= before < buckets
    assert after in (before, buckets)


@pytest.mark.parametrize(
    ("settings", "address", "move"),
    [
        ({}, False, False),
        ({"policy": "ip"}, True, True),
        ({"policy": "bucket"}, True, True),
        ({"policy": "ip", "force": "x"}, False, False),
        ({"defer_to_previous": False}, False, True),
    ],
)
def test_when_keys_change(settings: dict[str, object], address: bool, move: bool) -> None:
    choice = QueueAssignment.model_validate(settings)
    assert (needs_address(choice), moves(choice)) == (address, move)


def test_a_name_alone_will_do_and_heritrix_names_too() -> None:
    settings = FrontierSettings.model_validate(
        {
            "queue_assignment": "HostnameQueueAssignmentPolicy",
            "uri_precedence": {"policy": "HopsUriPrecedencePolicy", "base": 2},
            "queue_precedence": 7,
        }
    )
    assert settings.queue_assignment == QueueAssignment(policy="hostname")
    assert settings.uri_precedence == UriPrecedence(policy="hops", base=2)
    assert settings.queue_precedence == QueuePrecedence(base=7)
    tiers = QueuePrecedence.model_validate({"policy": "success-counts", "increments": "5,10"})
    assert tiers.increments == (5, 10)
    schema = FrontierSettings.model_json_schema()
    assert "hostname" in str(schema)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("queue_assignment", "host", "policy"),
        ("queue_assignment", {"policy": "ip", "labels": 2}, "labels: means nothing"),
        ("queue_assignment", {"buckets": 5}, "buckets: means nothing"),
        ("queue_assignment", {"force": "a b"}, "no spaces"),
        ("queue_assignment", {"force": "a\n"}, "printable"),
        ("uri_precedence", {"base": 5}, "base: means nothing to the policy cost"),
        ("queue_precedence", {"policy": "success-counts", "increments": [0]}, "one success"),
        ("queue_precedence", True, "QueuePrecedence"),
    ],
)
def test_what_is_refused(name: str, value: object, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        FrontierSettings.model_validate({name: value})


def test_a_default_written_out_is_no_mistake() -> None:
    assert QueueAssignment.model_validate({"policy": "ip", "labels": 0}).policy == "ip"
