"""Values of a job's settings that name something outside the crawl, those of sheets included."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from nacre.config.component import NamedKind
from nacre.config.layer import Layer
from nacre.config.named_values import NamedValue, named_values
from nacre.machine.local_files import home_path
from nacre.settings.settings import JobSettings

_OF_RUN: Final = "${launchId}/"
"""Begins a path within the directory of the run, which names nothing of the machine."""
_COOKIES: Final = ("cookies.load_file", "cookies.save_file")


def named_in(tree: Any) -> Iterator[NamedValue]:  # noqa: ANN401 - YAML
    """Yield the values of settings that name something of the machine.

    Args:
        tree: The settings, nested as in `crawl.yaml`; keys may be dotted paths.
    """
    for value in named_values(JobSettings, tree, "", _in_sheets):
        is_of_run = isinstance(value.value, str) and value.value.startswith(_OF_RUN)
        if not is_of_run or ".." in value.value:
            yield value


def _in_sheets(path: str, value: object) -> Iterator[NamedValue] | None:
    """Return the values of a sheet, whose keys are paths of settings; None: it is no sheet."""
    if path.count(".") != 1 or not path.startswith("sheets.") or not isinstance(value, Mapping):
        return None
    return chain.from_iterable(_of_path(path, str(key), item) for key, item in value.items())


def _of_path(sheet: str, key: str, value: object) -> Iterator[NamedValue]:
    """Yield the values of one setting of a sheet."""
    nested = value
    for part in reversed(key.split(".")):
        nested = {part: nested}
    for named in named_values(JobSettings, nested):
        yield named._replace(path=f"{sheet}.{named.path}")


def secret_files(layers: Iterable[Layer], root: Path) -> dict[Path, str]:
    """Return the files that hold secrets of a job, with the settings that name them.

    Those of passwords (`{file: PATH}`) and of cookies; `${launchId}` means each run.

    Args:
        layers: The settings as they are written.
        root: Directory of the job.
    """
    files: dict[Path, str] = {}
    for layer in layers:
        for named in named_in(layer.tree):
            is_cookies = named.path.endswith(_COOKIES)
            if (named.is_secret or is_cookies) and named.kind is NamedKind.FILE and named.value:
                for name in _of_runs(str(named.value), root):
                    files.setdefault(root / home_path(name), named.path)
    return files


def _of_runs(name: str, root: Path) -> Iterator[str]:
    """Yield the name of a file with the variables of paths filled in, as far as they are known."""
    name = name.replace("${job}", root.name)
    if "${launchId}" not in name:
        yield name
    elif (runs := root / "runs").is_dir():
        yield from (name.replace("${launchId}", run.name) for run in runs.iterdir())
