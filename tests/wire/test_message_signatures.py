"""Signed requests: the vectors of RFC 9421 and of the draft, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.identity_keys import verify_ed25519
from nacre.wire.message_signatures import (
    DIRECTORY_TAG,
    MOST_COMPONENTS,
    KeyHolder,
    RequestForm,
    check_signatures,
    has_signature,
    with_lines,
)
from nacre.wire.signature_base import HttpMessage, SignatureError, signature_base
from nacre.wire.structured_fields import InnerList, parse_dictionary
from tests.wire.signatures import KEY, KEYID, NOW, PUBLIC, received

AGENT = "https://signature-agent.test"
DRAFT_PARAMETERS = (
    '("@authority" "signature-agent";key="agent2");created=1735689600'
    f';keyid="{KEYID}";alg="ed25519";expires=4889289600'
    ';nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1'
    'YsauiA==";tag="web-bot-auth"'
)
DRAFT_SIGNATURE = (
    ":RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:"
)
RFC_PARAMETERS = (
    '("date" "@method" "@path" "@authority" "content-type" "content-length")'
    ';created=1618884473;keyid="test-key-ed25519"'
)
RFC_SIGNATURE = (
    ":wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:"
)
RFC_REQUEST = HttpMessage(
    [
        ("Host", "example.com"),
        ("Date", "Tue, 20 Apr 2021 02:07:55 GMT"),
        ("Content-Type", "application/json"),
        ("Content-Length", "18"),
    ],
    "POST", "https", "example.com", "/foo?param=Value&Pet=dog",
)  # fmt: skip
DRAFT_REQUEST = HttpMessage(
    [("Signature-Agent", f'agent2="{AGENT}"')], "GET", "https", "example.com", "/"
)


def with_signature(
    message: HttpMessage, parameters: str, signature: str, label: str
) -> HttpMessage:
    added = [("Signature-Input", f"{label}={parameters}"), ("Signature", f"{label}={signature}")]
    return message._replace(fields=[*message.fields, *added])


@pytest.mark.parametrize(
    ("message", "parameters", "signature"),
    [
        (RFC_REQUEST, RFC_PARAMETERS, RFC_SIGNATURE),  # B.2.6
        (DRAFT_REQUEST, DRAFT_PARAMETERS, DRAFT_SIGNATURE),
        (
            DRAFT_REQUEST._replace(fields=[("Signature-Agent", f'"{AGENT}"')]),
            f'("@authority" "signature-agent");created=1735689600;keyid="{KEYID}"'
            ';alg="ed25519";expires=1735693200;nonce="e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vow'
            'zk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==";tag="web-bot-auth"',
            ":jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/"
            "5Syp3rLWBA==:",
        ),
    ],
)
def test_the_vectors(message: HttpMessage, parameters: str, signature: str):
    covered = parse_dictionary(f"x={parameters}")["x"]
    assert isinstance(covered, InnerList)
    base = signature_base(covered, message).encode()
    made = parse_dictionary(f"x={signature}")["x"].value  # type: ignore[union-attr]
    assert KEY.sign(base) == made
    assert base.endswith(f'"@signature-params": {parameters}'.encode())


def test_the_vector_of_the_draft_is_verified():
    message = with_signature(DRAFT_REQUEST, DRAFT_PARAMETERS, DRAFT_SIGNATURE, "agent2")
    (check,) = check_signatures(message, {KEYID: PUBLIC}, verify_ed25519, now=NOW)
    assert (check.fault, check.agent, check.keyid) == ("", AGENT, KEYID)


def test_the_label_of_the_agent_has_to_be_the_signature_s():
    message = with_signature(DRAFT_REQUEST, DRAFT_PARAMETERS, DRAFT_SIGNATURE, "sig2")
    (check,) = check_signatures(message, {KEYID: PUBLIC}, verify_ed25519, now=NOW)
    assert check.fault == "does not cover the member of Signature-Agent with its label"


def test_the_vector_of_a_signed_directory():
    digest = "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
    parameters = (
        '("@authority";req "content-digest");created=1735689600;expires=4889289600'
        f';keyid="{KEYID}";tag="{DIRECTORY_TAG}"'
    )
    response = with_signature(
        HttpMessage([("Content-Digest", digest)], status=200),
        parameters,
        ":l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:",
        "binding",
    )
    request = HttpMessage([], "GET", "https", "signature-agent.test", "/.well-known/x")
    keys = {KEYID: PUBLIC}
    for authority, fault in (
        ("signature-agent.test", ""),
        ("other.test", "the signature does not fit the message"),
    ):
        (check,) = check_signatures(
            response, keys, verify_ed25519, now=NOW, tag=DIRECTORY_TAG,
            request=request._replace(authority=authority),
        )  # fmt: skip
        assert check.fault == fault


REQUEST = (
    b"GET /a%20b/?q=%E4%B8%AD HTTP/1.1\r\nHost: Example.com:8080\r\nUser-Agent: nacre\r\n"
    b"Cookie: a=1\r\nConnection: keep-alive\r\n\r\n"
)


def signed(
    request: bytes = REQUEST,
    *,
    created: int = NOW,
    lifetime: int = 300,
    form: str = "dictionary",
) -> bytes:
    holder = KeyHolder(KEYID, KEY.sign, AGENT, form)
    lines = RequestForm(holder, lifetime).sign(request, created, b"n" * 64)
    return with_lines(request, lines)


def faults(head: bytes, now: float = NOW) -> list[str]:
    checks = check_signatures(received(head), {KEYID: PUBLIC}, verify_ed25519, now=now)
    return [check.fault for check in checks]


@pytest.mark.parametrize("body", [b"", b"a=1&b=\r\n\r\n"])
@pytest.mark.parametrize(
    "target", ["/", "/a?b=c", "/a?", "/?a?b", "http://example.com:8080/x?y", "http://h.test"]
)
def test_a_signed_request_is_accepted(target: str, body: bytes):
    request = REQUEST.replace(b"/a%20b/?q=%E4%B8%AD", target.encode()) + body
    sent = signed(request)
    seen = target.partition("://")[2].partition("/")
    origin_form = f"/{seen[2]}" if seen[0] else target
    assert faults(sent.replace(target.encode(), origin_form.encode(), 1)) == [""]
    assert sent.endswith(b"\r\n\r\n" + body)
    assert sent.startswith(request.split(b"\r\n\r\n")[0] + b"\r\nSignature-Agent: ")


@pytest.mark.parametrize("form", ["dictionary", "string"])
@pytest.mark.parametrize("target", ["/", "/page", "/page?", "/page?a=b"])
def test_a_signature_fits_no_other_query(form: str, target: str):
    sent = signed(REQUEST.replace(b"/a%20b/?q=%E4%B8%AD", target.encode()), form=form)
    assert faults(sent) == [""]
    for added in ("?x=1", "&x", "/"):
        other = sent.replace(b" %b HTTP" % target.encode(), b" %b HTTP" % (target + added).encode())
        assert faults(other) == ["the signature does not fit the message"]


def test_each_changed_byte_of_what_is_covered_is_refused():
    sent = signed()
    covered = [b"GET", b"/a%20b/?q=%E4%B8%AD", b"Example.com:8080", AGENT.encode(), KEYID.encode()]
    for part in covered:
        place = sent.index(part)
        for offset in range(len(part)):
            byte = sent[place + offset]
            other = bytearray(sent)
            other[place + offset] = byte + 1 if byte != 0x3F else 0x40
            if other.lower() != sent.lower():
                assert faults(bytes(other)) != [""], bytes(other)
    place = sent.index(b"\r\nSignature: ") + len(b"\r\nSignature: sig1=:")
    for offset in range(0, 86, 5):
        other = bytearray(sent)
        other[place + offset] = ord("A") if other[place + offset] != ord("A") else ord("B")
        assert faults(bytes(other)) == ["the signature does not fit the message"]


def test_one_form_signs_at_each_second():
    made = RequestForm(KeyHolder(KEYID, KEY.sign, AGENT), 10)
    for now in (NOW, NOW, NOW + 1, NOW):
        head = with_lines(REQUEST, made.sign(REQUEST, now, b"n" * 64))
        (check,) = check_signatures(received(head), {KEYID: PUBLIC}, verify_ed25519, now=now)
        assert (check.fault, check.created, check.expires) == ("", now, now + 10)


@pytest.mark.parametrize(
    ("now", "fault"),
    [
        (NOW, ""),
        (NOW + 299.9, ""),
        (NOW + 300, "expired"),
        (NOW - 0.1, "created in the future"),
    ],
)
def test_a_signature_has_its_time(now: float, fault: str):
    assert faults(signed(), now) == [fault]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b"Signature: sig1=", b"Signature: sig2=", "Signature has no bytes for it"),
        (b";created=", b";made=", "created or expires is missing or wrong"),
        (b'alg="ed25519"', b'alg="hmac-sha256"', "its algorithm is not ed25519"),
        (b'"@authority" "@method"', b'"@method"', "covers neither @authority nor @target-uri"),
        (b'"@authority"', b'"@authority" "x-none"', "the message has no x-none"),
        (b'sig1="https://', b'sig1="http://', "Signature-Agent has no https URL for it"),
        (b'.test"\r\n', b'.test";a=1\r\n', "Signature-Agent has no https URL for it"),
        (b"Signature-Agent: sig1=", b"Signature-Agent: =", "Signature-Agent: character 1"),
        (KEYID.encode(), b"other", "the key is not known"),
        (b"sig1=(", b"sig1=1, x=(", "Signature-Input is no list of components"),
    ],
)
def test_what_is_refused(old: bytes, new: bytes, fault: str):
    sent = signed()
    assert sent.count(old) >= 1
    assert faults(sent.replace(old, new))[0].startswith(fault)


@pytest.mark.parametrize(
    "members",
    [
        "a=({})".format(" ".join(f'"host";req={n}' for n in range(MOST_COMPONENTS))),
        ", ".join(f"a{n}" for n in range(MOST_COMPONENTS)),
        ", ".join(f"a{n}=()" for n in range(MOST_COMPONENTS)),
        # A field is parsed again for each of these.
        "a=({})".format(" ".join(f'"signature";key="a{n}"' for n in range(MOST_COMPONENTS // 16))),
        "a=({})".format(" ".join(f'"signature";sf={n}' for n in range(MOST_COMPONENTS // 16))),
    ],
)
def test_the_covered_components_are_limited(members: str):
    with pytest.raises(SignatureError, match="more than 256 components"):
        faults(signed().replace(b"Signature-Input: ", f"Signature-Input: {members}, ".encode()))


def test_unreadable_fields_are_an_error():
    with pytest.raises(SignatureError, match="Signature-Input or Signature"):
        faults(signed().replace(b"Signature-Input: sig1=(", b"Signature-Input: sig1=(("))


def test_the_form_of_older_drafts_is_accepted():
    sent = signed(form="string")
    assert f'\r\nSignature-Agent: "{AGENT}"\r\n'.encode() in sent
    assert faults(sent) == [""]
    assert faults(sent.replace(b"signature-agent.test", b"evil.test")) == [
        "the signature does not fit the message"
    ]


@pytest.mark.parametrize(
    ("line", "has_it"),
    [
        (b"Signature: a=:YQ==:", True),
        (b"signature-input: a=()", True),
        (b"SIGNATURE-AGENT: x", True),
        (b"X-Signature: a", False),
        (b"Signature-Version: 1", False),
        (b"Cookie: a=Signature: b", False),
    ],
)
def test_a_request_that_has_a_signature(line: bytes, has_it: bool):
    body = b"a\r\nSignature: a"
    assert has_signature(with_lines(REQUEST + body, line + b"\r\n")) is has_it


def test_other_signatures_are_passed_over():
    assert faults(REQUEST) == []
    assert faults(signed().replace(b'tag="web-bot-auth"', b'tag="other"')) == []


@given(
    st.from_regex(r"/[!-~]{0,40}", fullmatch=True),
    st.integers(1, 300),
    st.sampled_from(["dictionary", "string"]),
)
def test_any_target_that_can_be_sent(target: str, lifetime: int, form: str):
    request = b"GET %b HTTP/1.1\r\nHost: h.test\r\n\r\n" % target.encode()
    assert faults(signed(request, lifetime=lifetime, form=form)) == [""]
