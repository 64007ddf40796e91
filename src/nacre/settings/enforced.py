"""Warns of preferences in `rights.enforce` that no site is known to state: they may be misspelt."""

from collections.abc import Iterator, Sequence
from typing import cast

from nacre.config.registry import did_you_mean
from nacre.config.sheet import check_sheet
from nacre.errors import Problem
from nacre.messages import SEMICOLON, join, message
from nacre.rights.vocabulary import is_known, nearest_known, read_preference
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import values_of_path

_PATH = "rights.enforce"


def enforce_warnings(settings: JobSettings) -> Iterator[Problem]:
    """Warn of unknown preferences in `rights.enforce`, in the job and its sheets.

    They are no problems: sites may use a vocabulary that is newer than the list of known ones.
    """
    sheets = {name: check_sheet(name, tree, settings)[0] for name, tree in settings.sheets.items()}
    for path, value in values_of_path(settings, sheets, _PATH).items():
        for number, text in enumerate(cast("Sequence[str]", value)):
            wanted = read_preference(text)
            if wanted is None or is_known(wanted):
                continue
            near = nearest_known(wanted)
            wrong: str = message(
                "settings.unknown-preference",
                "{text} is not a known preference: no reply is withheld for it unless a site "
                "states it like this",
                text=text,
            )
            if near is not None:
                wrong = join((wrong, did_you_mean(near.text)), *SEMICOLON)
            yield Problem(f"{path}.{number}", wrong)
