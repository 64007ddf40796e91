import pytest

from nacre.config.secret import Secret
from nacre.fetch.credential import Credential


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
