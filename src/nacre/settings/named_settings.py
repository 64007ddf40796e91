"""Values of a job's settings that name something outside the crawl, those of sheets included."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from nacre.config.layer import Layer
from nacre.config.named_values import NamedValue, named_values
from nacre.config.naming import NamedKind
from nacre.config.ordinary import home_path
from nacre.settings.settings import JobSettings

_OF_RUN: Final = "${launchId}/"
"""Begins a path within the directory of the run, which names nothing of the machine."""
_COOKIES: Final = ("cookies.load_file", "cookies.save_file")


def named_in(tree: Any) -> Iterator[NamedValue]:  # noqa: ANN401 - YAML
    """The values of settings that name something of the machine.

    Args:
        tree: The settings, nested as in `crawl.yaml`; keys may be dotted paths.
    """
    for value in named_values(JobSettings, tree, "", _in_sheets):
        is_of_run = isinstance(value.value, str) and value.value.startswith(_OF_RUN)
        if not is_of_run or ".." in value.value:
            yield value


def _in_sheets(path: str, value: object) -> Iterator[NamedValue] | None:
    """The values of a sheet, whose keys are paths of settings; None for what is no sheet."""
    if path.count(".") != 1 or not path.startswith("sheets.") or not isinstance(value, Mapping):
        return None
    return chain.from_iterable(_of_path(path, str(key), item) for key, item in value.items())


def _of_path(sheet: str, key: str, value: object) -> Iterator[NamedValue]:
    """The values of one setting of a sheet."""
    nested = value
    for part in reversed(key.split(".")):
        nested = {part: nested}
    for one in named_values(JobSettings, nested):
        yield one._replace(path=f"{sheet}.{one.path}")


def secret_files(layers: Iterable[Layer], root: Path) -> dict[Path, str]:
    """The files that hold secrets of a job, with the settings that name them.

    Those of passwords (`{file: PATH}`) and of cookies; `${launchId}` means each run.

    Args:
        layers: The settings as they are written.
        root: Directory of the job.
    """
    found: dict[Path, str] = {}
    for layer in layers:
        for one in named_in(layer.tree):
            is_cookies = one.path.endswith(_COOKIES)
            if (one.is_secret or is_cookies) and one.kind is NamedKind.FILE and one.value:
                for name in _of_runs(str(one.value), root):
                    found.setdefault(root / home_path(name), one.path)
    return found


def _of_runs(name: str, root: Path) -> Iterator[str]:
    """The name of a file with the variables of paths filled in, as far as they are known."""
    name = name.replace("${job}", root.name)
    if "${launchId}" not in name:
        yield name
    elif (runs := root / "runs").is_dir():
        yield from (name.replace("${launchId}", run.name) for run in runs.iterdir())
