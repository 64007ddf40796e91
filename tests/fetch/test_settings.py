import pytest
from pydantic import ValidationError

from nacre import __version__
from nacre.config.secret import Secret
from nacre.fetch.settings import Credential, FetchSettings, fill_user_agent


def test_the_defaults_send_these_fields() -> None:
    fields = dict(FetchSettings(contact="https://library.example/crawl").fields)
    assert fields["User-Agent"] == (
        f"Mozilla/5.0 (compatible; nacre/{__version__} +https://library.example/crawl)"
    )
    assert fields["Accept-Encoding"] == "gzip, br, zstd"
    assert "From" not in fields


def test_without_a_contact_its_place_goes() -> None:
    assert fill_user_agent("a/{version} +{contact})", "") == f"a/{__version__})"


def test_the_bytes_are_the_fields() -> None:
    settings = FetchSettings(user_agent="UA", mail_from="me@a.test", accept=(), accept_encoding="")
    assert settings.lines == b"User-Agent: UA\r\nFrom: me@a.test\r\n"


@pytest.mark.parametrize(
    "values",
    [
        {"proxy": "ftp://a.test"},
        {"proxy": "http://a.test/path"},
        {"accept": ("no colon",)},
        {"user_agent": "a\nb"},
        {"contact": "a\r\nX: y"},
        {"tls": "lax"},
        {"timeout": 0},
        {"max_header": 10},
    ],
)
def test_what_cannot_be_used_is_an_error(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FetchSettings.model_validate(values)


def test_every_field_is_documented() -> None:
    assert all(field.description for field in FetchSettings.model_fields.values())


def test_a_changed_copy_sends_what_was_changed() -> None:
    settings = FetchSettings(user_agent="One")
    assert b"One" in settings.lines
    assert b"Two" in settings.model_copy(update={"user_agent": "Two"}).lines


@pytest.mark.parametrize(
    ("origin", "place", "belongs"),
    [
        ("https://a.test", ("https", "a.test", 443), True),
        ("https://A.test:443/", ("https", "a.test", 443), True),
        ("http://a.test:81", ("http", "a.test", 81), True),
        ("http://[::1]", ("http", "::1", 80), True),
        ("https://a.test", ("http", "a.test", 443), False),
        ("https://a.test", ("https", "a.test", 444), False),
        ("https://a.test", ("https", "b.a.test", 443), False),
    ],
)
def test_a_credential_belongs_to_one_origin(
    origin: str, place: tuple[str, str, int], belongs: bool
) -> None:
    credential = Credential(origin=origin, username="u", password=Secret("p"))
    assert credential.belongs_to(*place) is belongs
