from pathlib import Path

import pytest

import nacre.console
from nacre.fleet.reach import ConsoleReach, may_name_files, takes_links, why_not
from nacre.ops.operation import Role

TLS = (Path("crt"), Path("key"))
OUTSIDE = {
    "app.py", "call.py", "schedule_runner.py", "jobs/new_jobs.py",
    "jobs/labels.py", "quota_runner.py", "runners.py", "webhook_runner.py",
}  # fmt: skip
"""Modules that check places themselves, or act for nobody who asks."""


@pytest.mark.parametrize(
    ("reach", "has_users", "reasons"),
    [
        (ConsoleReach(), False, []),
        (ConsoleReach("127.0.0.1"), False, []),
        (ConsoleReach("::1", TLS), False, []),
        (ConsoleReach("192.0.2.5"), False, ["no users", "in the clear"]),
        (ConsoleReach("192.0.2.5"), True, ["in the clear"]),
        (ConsoleReach("192.0.2.5", TLS), False, ["no users"]),
        (ConsoleReach("192.0.2.5", TLS), True, []),
        (ConsoleReach("0.0.0.0", TLS), True, ["--host"]),
        (ConsoleReach("::", TLS, hosts=("c.example",)), True, []),
        (ConsoleReach("", proxy="127.0.0.1"), True, ["--host"]),
        (ConsoleReach("", proxy="127.0.0.1"), False, ["no users", "--host"]),
        (ConsoleReach("", proxy="127.0.0.1", hosts=("c.example",)), True, []),
        (ConsoleReach("192.0.2.5", proxy="192.0.2.9"), True, []),
        (ConsoleReach("example.org", TLS), True, ["--bind example.org"]),
        (ConsoleReach("", proxy="proxy"), True, ["--behind-proxy proxy"]),
    ],
)
def test_asvs_13_2_nothing_is_opened_to_others_without_users_and_tls(
    reach: ConsoleReach, has_users: bool, reasons: list[str]
):
    found = why_not(reach, has_users=has_users)
    assert len(found) == len(reasons)
    assert all(part in text for part, text in zip(reasons, found, strict=True))


def test_its_names_are_those_given_and_its_address():
    assert ConsoleReach().name == "localhost"
    assert ConsoleReach("192.0.2.5", TLS).names == ("192.0.2.5",)
    assert ConsoleReach("2001:db8::5", TLS).name == "[2001:db8::5]"
    assert ConsoleReach("0.0.0.0", TLS, hosts=("C.example",)).names == ("c.example",)
    assert ConsoleReach(hosts=("c.example",)).name == "localhost"


@pytest.mark.parametrize(
    ("role", "remote", "places", "may"),
    [
        (Role.VIEWER, False, (), False),
        (Role.OPERATOR, False, (), True),
        (Role.OPERATOR, False, ("crawls",), False),
        (Role.OPERATOR, True, (), False),
        (Role.ADMIN, True, (), True),
    ],
)
def test_files_are_named_by_admins_and_by_operators_of_this_machine(
    role: Role, remote: bool, places: tuple[str, ...], may: bool
):
    assert may_name_files(role, is_remote=remote, places=places) is may


def test_links_stop_with_the_first_user():
    assert takes_links(has_users=False, local_link=False)
    assert not takes_links(has_users=True, local_link=False)
    assert takes_links(has_users=True, local_link=True)


def test_asvs_8_2_jobs_are_found_by_the_one_way_that_knows_places():
    """Other ways to a job would pass by the places that a user is restricted to."""
    sources = Path(nacre.console.__file__).parent
    for path in sources.rglob("*.py"):
        inside = path.relative_to(sources)
        if {inside.parts[0], str(inside)} & OUTSIDE:
            continue
        text = path.read_text("utf-8")
        for way in (".fleet.job(", "poller.snapshots(", ".fleet.jobs"):
            assert way not in text, f"{path}: take `call.job()` or `call.snapshots()`"
