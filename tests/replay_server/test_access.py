from base64 import b64encode

import pytest

from nacre.fleet.requester import NOBODY, Requester
from nacre.ops.operation import Role
from nacre.replay_server.access import (
    MOST_LABELS,
    SESSION,
    SESSION_LIFE,
    TICKET_LIFE,
    GrantSigner,
    ReplayAccess,
    ReplayAudience,
    ReplayGrant,
    cookie_field,
)

ONE, TWO = "0123456789ab", "ba9876543210"


class Now:
    """A clock that stands."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def users() -> dict[str, Requester]:
    return {name: Requester(name, Role.VIEWER, "session") for name in ("anna", "ben")}


@pytest.fixture
def access(now: Now, users: dict[str, Requester]) -> ReplayAccess:
    audience = ReplayAudience(
        lambda subject: users.get(subject, NOBODY),
        {"key of anna": "anna"}.get,  # type: ignore[arg-type]
    )
    return ReplayAccess(audience, now)


def test_a_ticket_becomes_a_session_of_its_job(access: ReplayAccess):
    cookie = access.trade(access.ticket("anna", ONE), ONE, "")
    admission = access.of_cookie(cookie)
    assert (admission.identity.name, admission.subject) == ("anna", "anna")
    assert admission.permits(ONE)
    assert not admission.permits(TWO)


def test_a_ticket_is_accepted_once(access: ReplayAccess):
    ticket = access.ticket("anna", ONE)
    assert access.trade(ticket, ONE, "")
    assert access.trade(ticket, ONE, "") == ""


def test_a_ticket_of_another_job_is_refused_and_stays_valid(access: ReplayAccess):
    ticket = access.ticket("anna", ONE)
    assert access.trade(ticket, TWO, "") == ""
    assert access.trade(ticket, ONE, "")


def test_a_ticket_expires(access: ReplayAccess, now: Now):
    ticket = access.ticket("anna", ONE)
    now.time += TICKET_LIFE
    assert access.trade(ticket, ONE, "") == ""


def test_a_printed_link_lives_longer(access: ReplayAccess, now: Now):
    ticket = access.ticket("anna", ONE, is_printed=True)
    now.time += TICKET_LIFE
    assert access.trade(ticket, ONE, "")


def test_a_session_expires_and_ends_with_its_user(
    access: ReplayAccess, now: Now, users: dict[str, Requester]
):
    cookie = access.trade(access.ticket("anna", ONE), ONE, "")
    assert access.of_cookie(cookie).identity.role
    users.pop("anna")
    assert access.of_cookie(cookie).identity is NOBODY
    users["anna"] = Requester("anna", Role.VIEWER, "session")
    now.time += SESSION_LIFE
    assert access.of_cookie(cookie).identity is NOBODY


def test_a_ticket_of_a_user_that_is_gone_is_refused(
    access: ReplayAccess, users: dict[str, Requester]
):
    ticket = access.ticket("anna", ONE)
    users.pop("anna")
    assert access.trade(ticket, ONE, "") == ""


def test_a_session_keeps_the_jobs_of_its_user_but_not_those_of_another(access: ReplayAccess):
    first = access.trade(access.ticket("anna", ONE), ONE, "")
    both = access.trade(access.ticket("anna", TWO), TWO, first)
    assert access.of_cookie(both).labels == (TWO, ONE)
    other = access.trade(access.ticket("ben", TWO), TWO, both)
    assert access.of_cookie(other).labels == (TWO,)


def test_a_session_has_a_bounded_number_of_jobs(access: ReplayAccess):
    cookie = ""
    for number in range(MOST_LABELS + 5):
        label = f"{number:012x}"
        cookie = access.trade(access.ticket("anna", label), label, cookie)
    assert len(access.of_cookie(cookie).labels or ()) == MOST_LABELS
    assert len(cookie) < 1500


def test_a_key_of_a_program_is_for_all_jobs_of_its_user(access: ReplayAccess):
    admission = access.of_key("Bearer key of anna")
    assert admission.permits(ONE)
    assert admission.permits(TWO)
    cookie = access.trade_key("key of anna", ONE, "")
    assert access.of_cookie(cookie).permits(ONE)
    assert access.trade_key("another", ONE, "") == ""


def test_a_key_may_be_the_password_of_a_url(access: ReplayAccess):
    assert access.of_key(f"Basic {b64encode(b'key:key of anna').decode()}").permits(ONE)


@pytest.mark.parametrize(
    "field",
    [
        "", "Bearer", "Bearer ", "Bearer x", "Basic key of anna", "x y", "Basic", "Basic \xe4",
        f"Basic {b64encode(b'key of anna').decode()}", f"Basic {b64encode(b'a:').decode()}",
        f"Basic {b64encode(bytes([255])).decode()}",
    ],
)  # fmt: skip
def test_other_keys_are_nobody(access: ReplayAccess, field: str):
    assert access.of_key(field).identity is NOBODY


def test_a_ticket_is_no_cookie_and_a_cookie_no_ticket(access: ReplayAccess):
    ticket = access.ticket("anna", ONE)
    assert access.of_cookie(ticket).identity is NOBODY
    assert access.of_path(ticket).identity is NOBODY
    cookie = access.trade(ticket, ONE, "")
    assert access.trade(cookie, ONE, "") == ""
    grant = access.path_grant("anna", ONE)
    assert access.of_path(grant).permits(ONE)
    assert access.of_cookie(grant).identity is NOBODY
    assert access.trade(grant, ONE, "") == ""


@pytest.mark.parametrize(
    "text", ["", "x", "=", "\u4e66", "A" * 5000, "A" * 100, "..", "-_-_", "\udc80"]
)
def test_texts_that_are_no_grants(access: ReplayAccess, text: str):
    assert access.of_cookie(text).identity is NOBODY
    assert access.trade(text, ONE, text) == ""


def test_a_changed_grant_is_refused(access: ReplayAccess):
    cookie = access.trade(access.ticket("anna", ONE), ONE, "")
    for place in range(0, len(cookie), 7):
        changed = cookie[:place] + ("A" if cookie[place] != "A" else "B") + cookie[place + 1 :]
        assert access.of_cookie(changed).identity is NOBODY


def test_another_process_has_another_key(access: ReplayAccess):
    grant = ReplayGrant(SESSION, "anna", (ONE,), 1e12)
    assert access.of_cookie(GrantSigner(b"x" * 32).sign(grant)).identity is NOBODY


def test_the_cookie_is_kept_from_scripts_and_other_hosts():
    field = cookie_field("x")
    assert field.startswith("__Host-replay=x; ")
    for word in ("Path=/", "Secure", "HttpOnly", "SameSite=Strict"):
        assert word in field
    assert "Domain" not in field
