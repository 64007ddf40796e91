"""The file /ai.txt of Spawning: lines as in robots.txt, about the training of models.

Other files of this name are Markdown or have other lines: these state nothing.
"""

from nacre.rights.signals import AI_TXT, PreferenceSignal, as_written
from nacre.rights.vocabulary import ALLOWED, DISALLOWED, Preference
from nacre.scope.robots_txt import file_lines, key_and_value

_ANSWERS = {b"allow": ALLOWED, b"disallow": DISALLOWED}
_MOST = 2_000
_LIMIT = 512_000


def ai_txt_signals(text: bytes) -> tuple[PreferenceSignal, ...]:
    """Return the rules of a file, at most 2,000, for all crawlers: `*.jpg` is about any path."""
    found: list[PreferenceSignal] = []
    is_for_all = True
    for raw in file_lines(text, _LIMIT):
        key, value = key_and_value(raw)
        if key == b"user-agent":
            is_for_all = value == b"*"
        elif key in _ANSWERS and value and is_for_all:
            pattern = value.decode("utf-8", "replace")
            path = pattern if pattern.startswith(("/", "*")) else f"/{pattern}"
            line = as_written(raw.decode("utf-8", "replace"))
            stated = (Preference("train-ai", _ANSWERS[key]),)
            found.append(PreferenceSignal(AI_TXT, "ai.txt", line, stated, path, "*"))
    return tuple(found[:_MOST])
