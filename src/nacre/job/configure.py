"""From a job's directory to checked settings, and from options to a new job's directory."""

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from ruamel.yaml import YAML

from nacre.config.check import Loaded, load
from nacre.config.layer import Layer, assignment_layer, environment_layer, read_yaml
from nacre.errors import ConfigError, JobError, Problem
from nacre.job.layout import SEEDS, Layout
from nacre.job.settings import JobSettings
from nacre.scope.rules import AnyRule

_HEADER = """\
# A job of Nacre. What is not said here has its default.
# All settings with unit and default: docs/reference/settings.md; where a value comes from:
#   nacre check {name} --explain politeness.delay
"""
_MAX_INCLUDES = 64


@dataclass
class NewJob:
    """What a new job's `crawl.yaml` and `seeds.txt` say.

    Attributes:
        seeds: Lines of the seed list.
        scope: Rules; empty for the stock list.
        values: Other settings, as a tree of the configuration.
    """

    seeds: Sequence[str]
    scope: Sequence[AnyRule] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


def user_config() -> Path:
    """The user's own configuration, which holds for all jobs: contact and the like."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "nacre" / "config.yaml"


def load_job(
    layout: Layout, assignments: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> Loaded[JobSettings]:
    """The settings of a job, from all layers: user, includes, file, environment, `--set`.

    Raises:
        JobError: The directory is no job.
        ConfigError: With every problem of every layer.
    """
    layout.require()
    layers = [*_user_layer(), *_file_layers(layout.config, layout.root, [])]
    layers.append(environment_layer(os.environ if environ is None else environ))
    layers.append(assignment_layer(assignments))
    loaded = load(JobSettings, layers)
    if loaded.settings.name:
        return loaded
    named = loaded.settings.model_copy(update={"name": layout.root.name})
    return Loaded(named, loaded.origins)


def _user_layer() -> list[Layer]:
    path = user_config()
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        layer = Layer("user")
        layer.problems.append(Problem("", f"cannot be read: {error}", file=str(path)))
        return [layer]
    return [read_yaml(text, str(path), source="user")]


def _file_layers(path: Path, root: Path, above: list[Path]) -> list[Layer]:
    """A file after its includes: what it says itself is stronger."""
    name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    if path in above or len(above) >= _MAX_INCLUDES:
        layer = Layer("file")
        layer.problems.append(Problem("include", "includes itself", file=name))
        return [layer]
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        layer = Layer("file")
        layer.problems.append(Problem("include", f"cannot be read: {error}", file=name))
        return [layer]
    own = read_yaml(text, name)
    found: list[Layer] = []
    for include in own.includes:
        found += _file_layers((path.parent / include).resolve(), root, [*above, path])
    return [*found, own]


def create_job(layout: Layout, new: NewJob) -> None:
    """Write a new job's directory.

    Raises:
        JobError: There is a job already, or the directory cannot be made.
        ConfigError: The settings are not valid.
    """
    if layout.config.exists():
        raise JobError(
            f"{layout.root} is a job already; go on with it by `nacre run`, or name another --out"
        )
    tree = _tree(layout, new)
    load(JobSettings, [Layer("option", tree)])
    text = _HEADER.format(name=layout.root.name) + _dump(tree)
    try:
        layout.root.mkdir(parents=True, exist_ok=True)
        (layout.root / SEEDS).write_text("".join(f"{line}\n" for line in new.seeds), "utf-8")
        layout.config.write_text(text, "utf-8")
    except OSError as error:
        raise JobError(f"{layout.root} cannot be written: {error.strerror}") from error


def _tree(layout: Layout, new: NewJob) -> dict[str, Any]:
    tree: dict[str, Any] = {"name": layout.root.name, "seeds": SEEDS}
    if new.scope:
        tree["scope"] = [_rule(rule) for rule in new.scope]
    tree.update(new.values)
    return tree


def _rule(rule: BaseModel) -> dict[str, Any]:
    said = rule.model_dump(mode="json", exclude_defaults=True)
    said.pop("rule", None)
    return {"rule": rule.rule, **said} if hasattr(rule, "rule") else said


def _dump(tree: Mapping[str, Any]) -> str:
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    buffer = io.StringIO()
    for key, value in tree.items():
        yaml.dump({key: value}, buffer)
    return buffer.getvalue()


def check_seeds(settings: JobSettings, layout: Layout) -> None:
    """Raise ConfigError when the seed list is missing or empty."""
    if isinstance(settings.seeds, str) and not (layout.root / settings.seeds).is_file():
        raise ConfigError(
            [
                Problem(
                    "seeds",
                    f"there is no file {settings.seeds} in {layout.root}",
                    "one URL a line",
                    "https://example.org/",
                )
            ]
        )
