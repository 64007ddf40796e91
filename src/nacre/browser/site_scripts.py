"""Scripts for the pages of one site: how they are read, checked and run.

A script is a file with `export default async ({page, log, link, limits}) => {…}`. It runs in the
page, in an isolated world, with the rights of a page: no files, no network but the proxy.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError, NacreError, Problem
from nacre.messages import message

MAX_SIZE = 200_000
"""Bytes of the largest script."""

MAX_SCRIPTS = 20

_EXPORT = re.compile(r"^export\s+default\s+(?=async\b|function\b|\()", re.MULTILINE)
_IMPORT = re.compile(r"^\s*(import\s+[\w{*\"'(]|export\s+(?![\s]|default\b))", re.MULTILINE)


class ScriptFormError(NacreError):
    """A text is no script for a site; the message says why."""


class SiteScript(NamedTuple):
    """A script for the pages of a site.

    Attributes:
        name: Name of its file.
        source: Its text.
        digest: SHA-256 of the file, as hex, for the record of how the crawl was made.
    """

    name: str
    source: str
    digest: str


def load_site_scripts(paths: Sequence[str], directory: Path) -> tuple[SiteScript, ...]:
    """Read the scripts that `browser.scripts` names.

    Args:
        paths: Paths of files.
        directory: What relative paths are relative to.

    Raises:
        ConfigError: A file cannot be read or is no script; all problems at once.
    """
    scripts: list[SiteScript] = []
    problems: list[Problem] = []
    if len(paths) > MAX_SCRIPTS:
        text = message("browser.scripts-many", "more than {most} files", most=MAX_SCRIPTS)
        problems.append(Problem(_PATH, text))
    for path in paths[:MAX_SCRIPTS]:
        try:
            scripts.append(_load_script(directory / path))
        except OSError as error:
            problems.append(Problem(_PATH, _describe(path, error.strerror or str(error))))
        except ScriptFormError as error:
            problems.append(Problem(_PATH, _describe(path, error.message), sample=EXAMPLE))
    if problems:
        raise ConfigError(problems)
    return tuple(scripts)


_PATH = "browser.scripts"


def _describe(path: str, reason: str) -> str:
    return message("browser.script", "{path}: {reason}", path=path, reason=reason)


EXAMPLE = "export default async ({page, log, link, limits}) => { … }"
"""The form of a script, for messages."""


def _load_script(path: Path) -> SiteScript:
    with path.open("rb") as file:
        data = file.read(MAX_SIZE + 1)
    if len(data) > MAX_SIZE:
        text = message("browser.script-large", "larger than {most} bytes", most=f"{MAX_SIZE:,}")
        raise ScriptFormError(text)
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ScriptFormError(message("browser.script-encoding", "not UTF-8")) from None
    make_function(source)
    return SiteScript(path.name, source, hashlib.sha256(data).hexdigest())


def make_function(source: str) -> str:
    """Return an expression whose value is the function that a script exports.

    Raises:
        ScriptFormError: The text has no `export default` with a function, or more, or it imports.
    """
    exports = len(_EXPORT.findall(source))
    if exports != 1:
        raise ScriptFormError(
            message(
                "browser.script-exports",
                "{count} lines begin with `export default` and a function; expected 1",
                count=exports,
            )
        )
    if statement := _IMPORT.search(source):
        raise ScriptFormError(
            message(
                "browser.script-imports",
                "a script stands alone; it cannot `{statement}…`",
                statement=statement[0].strip(),
            )
        )
    body = _EXPORT.sub("const exported = ", source)
    return f"(() => {{\n{body}\n;return exported;\n}})()"
