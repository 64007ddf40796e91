"""From a job's directory to checked settings, and from options to a new job's directory."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel
from ruamel.yaml.comments import CommentedMap

from nacre.config.check import Loaded, load, load_partly
from nacre.config.facts import FieldFacts, fields, value_at
from nacre.config.layer import Layer, assignment_layer, environment_layer
from nacre.config.place import properties
from nacre.config.secret import Secret
from nacre.config.writing import yaml_text
from nacre.errors import ConfigError, JobError, Problem
from nacre.job.configuration.layers import file_layers, inner_layers
from nacre.job.configuration.newlogins import NewLogins, apart
from nacre.job.configuration.plugins import use_plugins
from nacre.job.configuration.profiles import profiles
from nacre.job.configuration.schema import BESIDE, SHIPPED
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.sheet_list import sheet_problems
from nacre.job.configuration.variables import expanded
from nacre.job.layout import SEEDS, Layout
from nacre.scope.rules import AnyRule

_HEADER = f"""\
# yaml-language-server: $schema={BESIDE}
# A job of Nacre. What is not said here has its default.
#   nacre check DIR                             every problem at once
#   nacre check DIR --explain politeness.delay  a value, where it comes from, its unit and meaning
#   nacre run DIR                               crawl, or go on with it
# All settings: reference/settings.md of the documentation (nacre help docs)
"""
_FOOTER = """
# Often set. This is what holds; take the `#` away to change it.
"""
_OFTEN = (
    "fetch.contact",
    "politeness.delay_factor",
    "politeness.min_delay",
    "politeness.max_delay",
    "engine.parallel",
    "limits.documents",
    "limits.bytes",
    "limits.time",
    "robots.policy",
    "archive.prefix",
    "archive.operator",
    "archive.description",
    "network.allow",
)

use_plugins()


@dataclass
class NewJob:
    """What a new job's `crawl.yaml` and `seeds.txt` say.

    Attributes:
        seeds: Lines of the seed list.
        scope: Rules; empty for the stock list.
        values: Other settings, as a tree of the configuration.
        profile: Name of the profile that it stands on; "" for none.
    """

    seeds: Sequence[str]
    scope: Sequence[AnyRule] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    profile: str = ""


def load_job(
    layout: Layout, assignments: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> Loaded[JobSettings]:
    """The settings of a job, from all layers: user, includes, file, environment, `--set`.

    Raises:
        JobError: The directory is no job.
        ConfigError: With every problem of every layer.
    """
    loaded, problems = examine_job(layout, assignments, environ)
    if problems or loaded is None:
        raise ConfigError(problems)
    return loaded


def examine_job(
    layout: Layout, assignments: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> tuple[Loaded[JobSettings] | None, list[Problem]]:
    """As `load_job`, but with the problems as a value, so that others can be looked for too.

    Raises:
        JobError: The directory is no job.
    """
    layout.require()
    layers = [*inner_layers(file_layers(layout.config, layout.root), layout.root)]
    return _examined(layout, [*layers, *_outer_layers(assignments, environ)], environ)


def examine_new(
    layout: Layout, new: NewJob, environ: Mapping[str, str] | None = None
) -> tuple[Loaded[JobSettings] | None, list[Problem]]:
    """The settings that a job will have, before it is written."""
    new = _with(new, apart(new.seeds))
    tree = {**_tree(layout, new), "seeds": list(new.seeds)}
    tree.pop("profile", None)
    option = Layer("option", tree, profile=(new.profile, 0))
    layers = inner_layers([option], layout.root)
    return _examined(layout, [*layers, *_outer_layers((), environ)], environ)


def _outer_layers(assignments: Iterable[str], environ: Mapping[str, str] | None) -> list[Layer]:
    environment = environment_layer(os.environ if environ is None else environ)
    return [environment, assignment_layer(assignments)]


def _examined(
    layout: Layout, layers: Sequence[Layer], environ: Mapping[str, str] | None
) -> tuple[Loaded[JobSettings] | None, list[Problem]]:
    loaded, problems = load_partly(JobSettings, layers, layout.root)
    if loaded is None:
        return None, problems
    name = loaded.settings.name or layout.root.name
    named = loaded.settings.model_copy(update={"name": name})
    settings, more = expanded(named, os.environ if environ is None else environ)
    loaded = replace(loaded, settings=settings)
    placed = (problem._replace(**_place(loaded, problem.path)) for problem in more)
    found = [*problems, *placed, *sheet_problems(loaded, layout.root)]
    return loaded, sorted(found, key=lambda p: (p.file, p.line, p.path))


def _place(loaded: Loaded[JobSettings], path: str) -> dict[str, Any]:
    origin = loaded.place(path)
    return {"file": origin.file, "line": origin.line}


def create_job(layout: Layout, new: NewJob) -> None:
    """Write a new job's directory.

    Raises:
        JobError: There is a job already, or the directory cannot be made.
        ConfigError: The settings are not valid.
    """
    require_no_job(layout)
    logins = apart(new.seeds)
    new = _with(new, logins)
    tree = _tree(layout, new)
    checked = {key: value for key, value in tree.items() if key != "profile"}
    load(JobSettings, [Layer("option", checked)], layout.root)
    now, _ = examine_new(layout, new, {})
    text = _HEADER + _dump(tree) + _FOOTER + _often_set(tree, now.settings if now else None)
    try:
        layout.root.mkdir(parents=True, exist_ok=True)
        (layout.root / SEEDS).write_text("".join(f"{line}\n" for line in new.seeds), "utf-8")
        logins.write(layout.root)
        shutil.copyfile(SHIPPED, layout.root / BESIDE)
        layout.config.touch(0o600 if now and _has_plain_secret(now.settings) else 0o666)
        layout.config.write_text(text, "utf-8")
    except OSError as error:
        raise JobError(f"{layout.root} cannot be written: {error.strerror}") from error


def _with(new: NewJob, logins: NewLogins) -> NewJob:
    """The job with what stood in its seeds as credentials."""
    if not logins.credentials:
        return new
    fetch = dict(new.values.get("fetch") or {})
    fetch["credentials"] = [*fetch.get("credentials", ()), *logins.credentials]
    return replace(new, seeds=logins.lines, values={**new.values, "fetch": fetch})


def _has_plain_secret(settings: JobSettings) -> bool:
    values = (one.value for one in properties(settings))
    return any(isinstance(value, Secret) and value.is_plain for value in values)


def require_no_job(layout: Layout, option: str = "") -> None:
    """Raise JobError when there is a job already; `option` is the one that names another place."""
    if layout.config.exists():
        how = f" with {option}" if option else ""
        raise JobError(
            f"{layout.root} is a job already. Go on with it by `nacre run {layout.root}`, or name "
            f"another directory{how}."
        )


def _tree(layout: Layout, new: NewJob) -> dict[str, Any]:
    tree: dict[str, Any] = _profile(new.profile) if new.profile else {}
    tree |= {"name": layout.root.name, "seeds": SEEDS}
    if new.scope:
        tree["scope"] = [_rule(rule) for rule in new.scope]
    tree.update(new.values)
    return tree


def _profile(name: str) -> dict[str, Any]:
    """The line that names the profile, with what it is for."""
    node = CommentedMap({"profile": name})
    purpose = next((one.purpose for one in profiles() if one.name == name), "")
    if purpose:
        node.yaml_add_eol_comment(_first_sentence(purpose), "profile", column=32)
    return {"profile": node}


def _rule(rule: BaseModel) -> dict[str, Any]:
    """A rule as the file says it, with the first sentence of its description beside its name."""
    said = rule.model_dump(mode="json", exclude_defaults=True)
    said.pop("rule", None)
    node = CommentedMap({"rule": getattr(rule, "rule", ""), **said})
    node.yaml_add_eol_comment(_first_sentence(type(rule).__doc__ or ""), "rule", column=32)
    return node


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


def _dump(tree: Mapping[str, Any]) -> str:
    return "".join(
        yaml_text(value if key == "profile" else {key: _written(value)})
        for key, value in tree.items()
    )


def _written(value: Any) -> Any:  # noqa: ANN401 - as in YAML
    """Passwords that are in files of their own by their names."""
    if isinstance(value, Secret):
        return value.said()
    if isinstance(value, CommentedMap):
        return value
    if isinstance(value, Mapping):
        return {key: _written(inner) for key, inner in value.items()}
    return [_written(inner) for inner in value] if isinstance(value, list | tuple) else value


def _often_set(tree: Mapping[str, Any], settings: JobSettings | None) -> str:
    """The usual settings as comments, with what holds without them; not those of the file."""
    lines: list[str] = []
    section = ""
    facts = {field.path: field for field in fields(JobSettings)}
    for path in _OFTEN:
        head, _, name = path.partition(".")
        if name in tree.get(head, {}):
            continue
        if head != section:
            section = head
            lines.append(f"#{head}:" if head not in tree else f"# under `{head}` above:")
        holds = value_at(settings or JobSettings(), path)
        lines.append(_commented(name, facts[path]._replace(default=holds)))
    return "\n".join(lines) + "\n"


def _commented(name: str, facts: FieldFacts) -> str:
    default = list(facts.default) if isinstance(facts.default, tuple) else facts.default
    line = yaml_text({name: str(default) if isinstance(default, str) else default})
    unit = f" ({facts.unit})" if facts.unit else ""
    return f"#  {line.strip():<24} # {_first_sentence(facts.doc)}{unit}"
