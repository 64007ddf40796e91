"""The languages of Nacre's messages: one gettext catalogue for each, keyed by code.

`locale/LANGUAGE/LC_MESSAGES/nacre.po` has the texts; `make catalogues` collects them. The key of a
message is its code; that of another text of the console is the English text. `translations.py`
reads the files, or the compiled ones of a wheel. A language is read when it is first used.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Final

from nacre.languages.translations import read_catalogue
from nacre.messages import Message, Translate

FOLDER: Final = Path(__file__).parent / "locale"
DOMAIN: Final = "nacre"
CHINESE: Final = "zh_CN"


@cache
def read_texts(name: str) -> Mapping[str, str]:
    """Read the translations of a language; none if it has no file.

    Args:
        name: Name of its folder, such as `zh_CN`.
    """
    return read_catalogue(FOLDER / name / "LC_MESSAGES", DOMAIN)


def translator(name: str) -> Translate:
    """Return the function that gives a message's template in a language.

    Args:
        name: Name of the language; the templates of one without a file are English.
    """
    return partial(_template, read_texts(name))


def _template(texts: Mapping[str, str], text: Message) -> str:
    return texts.get(text.code, text.template)
