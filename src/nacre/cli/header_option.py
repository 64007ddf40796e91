"""`--header`: lines that wget's users type, as the settings that they stand for."""

from collections.abc import Sequence

from nacre.errors import ConfigError, Problem
from nacre.fetch.settings import FetchSettings

_SETTINGS = {
    "user-agent": "user_agent",
    "from": "mail_from",
    "accept-encoding": "accept_encoding",
}
_OTHERWISE = {
    "cookie": "--load-cookies FILE: cookies go only where they belong",
    "authorization": "`fetch.credentials`: a password goes only where it belongs, and stays secret",
    "proxy-authorization": "`fetch.proxy`",
    "referer": "nothing: the page that a link was found on is sent",
    "host": "nothing: it follows from the URL",
    "connection": "nothing: it follows from the exchange",
    "range": "`fetch.send_range`",
    "if-modified-since": "nothing: recrawls send it",
    "if-none-match": "nothing: recrawls send it",
    "content-length": "nothing: requests have no body",
    "transfer-encoding": "nothing: requests have no body",
}
"""Fields that no line can set, and what to use in their place."""


def header_settings(lines: Sequence[str]) -> dict[str, str | list[str]]:
    """Settings of `fetch` for header lines; a line takes the place of the default of its name.

    Raises:
        ConfigError: A line is none, or its field has another place.
    """
    if not lines:
        return {}
    settings: dict[str, str | list[str]] = {}
    sent: list[str] = []
    problems: list[Problem] = []
    for line in lines:
        name, colon, value = (part.strip() for part in line.partition(":"))
        field = name.lower()
        if not colon or not name:
            said = f"--header {line!r}: no header line"
            problems.append(Problem("", said, "`Name: value`", "Accept-Language: zh"))
        elif field in _OTHERWISE:
            said = f"--header {name}: this field is not set by a line"
            problems.append(Problem("", said, _OTHERWISE[field]))
        elif field in _SETTINGS:
            settings[_SETTINGS[field]] = value
        else:
            sent.append(f"{name}: {value}")
    if problems:
        raise ConfigError(problems)
    if sent:
        given = {line.partition(":")[0].lower() for line in sent}
        default = FetchSettings().accept
        kept = [line for line in default if line.partition(":")[0].lower() not in given]
        settings["accept"] = [*kept, *sent]
    return settings
