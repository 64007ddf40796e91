"""Variables in the paths of a configuration: `${job}`, `${env:NAME}` and `${launchId}`.

The first two are known when the configuration is read. `${launchId}` is Heritrix's word for the
name of the run (`20261120T151100Z`), which is known when the run begins.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from nacre.config.facts import value_at
from nacre.config.place import InvalidValuesError, with_values
from nacre.errors import Problem
from nacre.messages import error_text
from nacre.settings.settings import JobSettings

PATHS = ("seeds", "archive.directories", "cookies.load_file", "cookies.save_file")
"""Settings in which variables are known."""

_OF_RUNS = frozenset(("archive.directories", "cookies.save_file"))
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_RUN = "launchId"


class _Unknown(LookupError):  # noqa: N818 - never leaves this module
    """A variable has no value; the message has the reason."""


def expand_variables(
    settings: JobSettings, environ: Mapping[str, str]
) -> tuple[JobSettings, list[Problem]]:
    """Return settings with `${job}` and `${env:NAME}` replaced, and problems of variables."""
    values: dict[str, object] = {}
    problems: list[Problem] = []
    for path, texts in _with_variables(settings):
        try:
            filled = tuple(_fill(text, path, settings.name, environ) for text in texts)
        except _Unknown as error:
            problems.append(Problem(path, error_text(error), "", "${env:HOME}/warcs/${job}"))
            continue
        values[path] = filled if isinstance(value_at(settings, path), tuple) else filled[0]
    try:
        return with_values(settings, values), problems
    except InvalidValuesError as error:
        variable_problems = [Problem(path, message) for path, message, _ in error.items]
        return settings, [*problems, *variable_problems]


def for_run(settings: JobSettings, run: str) -> JobSettings:
    """Settings with `${launchId}` filled in.

    Args:
        settings: Settings as `expand_variables` gives them.
        run: Name of the run.
    """
    values: dict[str, object] = {}
    for path, texts in _with_variables(settings):
        filled = tuple(text.replace(f"${{{_RUN}}}", run) for text in texts)
        values[path] = filled if isinstance(value_at(settings, path), tuple) else filled[0]
    return with_values(settings, values)


def known_part(directory: str) -> str:
    """Return the beginning of a path in which no variable is left."""
    if "${" not in directory:
        return directory
    parts = Path(directory).parts
    first = next(index for index, part in enumerate(parts) if "${" in part)
    return str(Path(*parts[:first]))


def _with_variables(settings: JobSettings) -> Iterator[tuple[str, tuple[str, ...]]]:
    for path in PATHS:
        value = value_at(settings, path)
        if path == "seeds" and not isinstance(value, str):
            continue  # URLs, which may hold anything
        texts = (value,) if isinstance(value, str) else value
        if isinstance(texts, tuple) and any("${" in text for text in texts):
            yield path, texts


def _fill(text: str, path: str, job: str, environ: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name == "job":
            if "/" in job or job in {".", ".."}:
                raise _Unknown(f"the job's name {job!r} is used here, but is not a valid file name")
            return job
        if name == _RUN and path in _OF_RUNS:
            return match[0]
        kind, colon, variable = name.partition(":")
        if kind == "env" and colon:
            text = environ.get(variable)
            if not text:
                raise _Unknown(f"the environment has no variable {variable}")
            return text
        names = "job, env:NAME" + (f", {_RUN}" if path in _OF_RUNS else "")
        raise _Unknown(f"unknown variable: ${{{name}}}; known here: {names}")

    return _VARIABLE.sub(value, text)
