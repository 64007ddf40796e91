"""The file /ai.txt of Spawning: lines as in robots.txt, about the training of models.

Other files of this name are Markdown or have other lines: these state nothing.
"""

from collections.abc import Iterator

from nacre.rights.signals import AI_TXT, PreferenceSignal, as_written
from nacre.rights.vocabulary import ALLOWED, DISALLOWED, Preference
from nacre.scope.robots_txt import file_lines, key_and_value

_ANSWERS = {b"allow": ALLOWED, b"disallow": DISALLOWED}


def ai_txt_signals(text: bytes) -> Iterator[PreferenceSignal]:
    """Yield the rules of a file for all crawlers: `*.jpg` is about any path."""
    is_for_all = True
    for raw in file_lines(text, len(text)):
        key, value = key_and_value(raw)
        if key == b"user-agent":
            is_for_all = value == b"*"
        elif key in _ANSWERS and value and is_for_all:
            pattern = value.decode("utf-8", "replace")
            path = pattern if pattern.startswith(("/", "*")) else f"/{pattern}"
            line = as_written(raw.decode("utf-8", "replace"))
            stated = (Preference("train-ai", _ANSWERS[key]),)
            yield PreferenceSignal(AI_TXT, "ai.txt", line, stated, path, "*")
