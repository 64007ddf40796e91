from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.job.admission import geo
from nacre.job.admission.geo import database_problem, open_countries
from tests.job.mmdb import database


def test_countries_of_addresses(tmp_path: Path):
    path = tmp_path / "c.mmdb"
    records = {
        "192.0.2.0/25": {"country": {"iso_code": "IS"}},
        "192.0.2.128/25": {"registered_country": {"iso_code": "no"}},
        "198.51.100.0/24": {"country_code": "CN", "country": "China"},
        "203.0.113.0/24": {"city": "x"},
    }
    path.write_bytes(database(records))
    country = open_countries(path)
    asked = ["192.0.2.1", "192.0.2.200", "198.51.100.9", "203.0.113.1", "8.8.8.8", "no", "::1"]
    assert [country(address) for address in asked] == ["IS", "NO", "CN", "", "", "", ""]
    assert database_problem(path) == ""


def test_what_cannot_be_used_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert "GeoLite2-Country" in database_problem(tmp_path / "missing.mmdb")
    (tmp_path / "bad.mmdb").write_bytes(b"no database")
    assert "bad.mmdb cannot be used" in database_problem(tmp_path / "bad.mmdb")
    monkeypatch.setattr(geo, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="-m pip install maxminddb"):
        open_countries(tmp_path / "bad.mmdb")
