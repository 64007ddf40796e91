"""Country databases in MaxMind's format, for the rule `geo-location`."""

from importlib.util import find_spec
from pathlib import Path

from nacre.errors import ConfigError, Problem
from nacre.job.configuration.extras import wanting
from nacre.scope.state import Country


def database_problem(path: Path) -> str:
    """Why a database cannot be used, with the remedy; "" when it can."""
    try:
        open_countries(path)
    except ConfigError as error:
        return error.problems[0].message
    return ""


def open_countries(path: Path) -> Country:
    """A look-up of country codes by address.

    Raises:
        ConfigError: The file is no such database, or cannot be read.
    """
    if find_spec("maxminddb") is None:
        raise ConfigError([Problem("", wanting("country databases need", "maxminddb"))])
    import maxminddb  # noqa: PLC0415 - an extra

    try:
        reader = maxminddb.open_database(path)
    except (OSError, maxminddb.InvalidDatabaseError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = (
            f"{path.name} cannot be used: {reason}; get a country database in MaxMind's format, "
            "such as GeoLite2-Country.mmdb"
        )
        raise ConfigError([Problem("", message)]) from None

    def country(address: str) -> str:
        try:
            return _code(reader.get(address.strip("[]")))
        except (ValueError, maxminddb.InvalidDatabaseError):
            return ""

    return country


def _code(record: object) -> str:
    """The code in a record of MaxMind, DB-IP or IPinfo; "" when there is none."""
    if not isinstance(record, dict):
        return ""
    for key in ("country", "registered_country", "country_code"):
        value = record.get(key)
        code = value.get("iso_code") if isinstance(value, dict) else value
        if isinstance(code, str) and len(code) == 2:
            return code.upper()
    return ""
