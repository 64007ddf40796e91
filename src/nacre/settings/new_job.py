"""Writes the directory of a new job: `crawl.yaml`, `seeds.txt`, the schema, files of passwords.

Names and passwords in the URLs of seeds are moved to files that only the owner can read.
"""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel
from ruamel.yaml.comments import CommentedMap

from nacre.config.check import Loaded, load
from nacre.config.document import yaml_text
from nacre.config.facts import FieldFacts, fields, value_at
from nacre.config.layer import Layer, SettingOrigin, merge, put
from nacre.config.place import properties
from nacre.config.secret import Secret
from nacre.errors import JobError, Problem
from nacre.machine.layout import SEEDS, Layout
from nacre.machine.local_files import make_private
from nacre.messages import message
from nacre.scope.rules.stock import AnyRule
from nacre.scope.seeds import BadSeed, Seed, is_no_page, read_seeds, seed_as_line
from nacre.settings.layers import inner_layers, list_profiles, outer_layers
from nacre.settings.load import examine_layers
from nacre.settings.schema import BESIDE, SHIPPED
from nacre.settings.settings import JobSettings
from nacre.uri.typed import Login, hidden, redact

LOGINS = "logins"
"""Directory of the files, in that of the job."""


_WEB = ("http://", "https://")
_HEADER = f"""\
# yaml-language-server: $schema={BESIDE}
# A job of Nacre. Settings that are not given here have their defaults.
#   nacre check DIR                             every problem at once
#   nacre check DIR --explain politeness.delay  a value, where it comes from, its unit and meaning
#   nacre run DIR                               start or resume the crawl
# All settings: reference/settings.md of the documentation (nacre help docs)
"""
_FOOTER = """
# Settings that are often changed, with their present values; remove the `#` to change one.
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
    "browser.use",
    "archive.prefix",
    "archive.operator",
    "archive.description",
    "network.allow",
)


class SeedLogins(NamedTuple):
    """The logins that were taken out of a list of seeds.

    Attributes:
        lines: The list without names and passwords.
        credentials: For `fetch.credentials`, as the configuration has them.
    """

    lines: Sequence[str]
    credentials: Sequence[dict[str, Any]] = ()

    def warnings(self) -> list[Problem]:
        """Warnings with the place of each password, and how to avoid typing passwords."""
        return [
            Problem(
                "seeds",
                message(
                    "settings.seed-login-removed",
                    "name and password of {name} are removed from its seed, and sent when the "
                    "server "
                    "asks for them; the password is in {password_place}",
                    name=credential["origin"],
                    password_place=_password_place(credential["password"]),
                ),
                message(
                    "settings.passwords-in-fetch",
                    "passwords in fetch.credentials, as `password: {{env: NAME}}`: text "
                    "typed into a command stays in the shell's history",
                ),
            )
            for credential in self.credentials
        ]

    def written(self) -> list[dict[str, Any]]:
        """Return the credentials in the form of the file."""
        return [{name: _as_yaml(value) for name, value in c.items()} for c in self.credentials]

    def write(self, root: Path) -> None:
        """Write the passwords.

        Raises:
            OSError: They cannot be written.
        """
        for credential in self.credentials:
            password = credential["password"]
            if isinstance(password, Secret):
                path = root / password.source["file"]
                make_private(path.parent)
                path.touch(0o600)
                path.write_text(f"{password.text}\n", "utf-8")


def _as_yaml(value: Any) -> Any:  # noqa: ANN401 - as in YAML
    return value.as_setting() if isinstance(value, Secret) else value


def _password_place(password: object) -> str:
    """Return the notes for the operator."""
    return password.source["file"] if isinstance(password, Secret) else "crawl.yaml"


def separate_logins(lines: Iterable[str]) -> SeedLogins:
    """Take names and passwords out of the lines of a seed list, comments and bad lines included."""
    plain: list[str] = []
    credentials: dict[str, dict[str, Any]] = {}
    for line in lines:
        entry = next(read_seeds([line]), None) if "@" in line else None
        if not isinstance(entry, Seed) or entry.login is None:
            plain.append(_without_password(line) if "@" in line else line)
            continue
        plain.append(seed_as_line(entry))
        login = entry.login
        if login.origin.startswith(_WEB):
            number = len(credentials)
            credentials[login.origin] = _credential(login, number)
    return SeedLogins(plain, list(credentials.values()))


def _without_password(line: str) -> str:
    """Return a line without a login: a comment, a rule, or an invalid seed such as a bad URL.

    An address such as `mailto:` has none, and stays as it is, so that it is refused by its name.
    """
    if is_no_page(line.strip()):
        return line
    is_bad = isinstance(next(read_seeds([line]), None), BadSeed)
    return redact(line) if is_bad and ":" in line.partition("@")[0] else hidden(line)


def _credential(login: Login, number: int) -> dict[str, Any]:
    name = re.sub(r"[^a-z0-9.-]+", "-", login.origin.partition("://")[2]).strip("-.") or "login"
    text = login.password
    # A file cannot contain an empty text, or a text that ends with a blank.
    is_plain = not text or text != text.strip()
    secret = text if is_plain else Secret(text, {"file": f"{LOGINS}/{name}-{number + 1}"})
    return {"origin": login.origin, "username": login.username, "password": secret}


@dataclass
class NewJob:
    """The contents of a new job's `crawl.yaml` and `seeds.txt`.

    Attributes:
        seeds: Lines of the seed list.
        scope: Rules; empty for the stock list.
        values: Other settings, as a tree of the configuration.
        profile: Name of the profile that it is based on; "" for none.
    """

    seeds: Sequence[str]
    scope: Sequence[AnyRule] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    profile: str = ""


def examine_new(
    layout: Layout, new: NewJob, environ: Mapping[str, str] | None = None
) -> tuple[Loaded[JobSettings] | None, list[Problem]]:
    """Return the settings of a new job that is not written yet."""
    new = _with_credentials(new, separate_logins(new.seeds))
    return examine_layers(layout, _layers(layout, new, environ), environ)


def _layers(layout: Layout, new: NewJob, environ: Mapping[str, str] | None) -> list[Layer]:
    tree = {**_tree(layout, new), "seeds": list(new.seeds)}
    tree.pop("profile", None)
    option = Layer("option", tree, profile=(new.profile, 0))
    return [*inner_layers([option], layout.root), *outer_layers((), environ)]


def with_defaults(layout: Layout, new: NewJob, defaults: Mapping[str, object]) -> NewJob:
    """Return the job with further values, except for settings that any of its layers has.

    Args:
        layout: Its directories.
        new: The job.
        defaults: Values by the path of the setting, such as `browser.use`.
    """
    tree = merge(_layers(layout, new, None))[0] if defaults else {}
    more = Layer("option")
    for path, value in defaults.items():
        section, _, name = path.partition(".")
        below = tree.get(section) or {}
        if isinstance(below, Mapping) and name not in below:
            put(more, path, value, SettingOrigin("option"))
    return replace(new, values=merge([Layer("option", dict(new.values)), more])[0])


def create_job(layout: Layout, new: NewJob) -> None:
    """Write a new job's directory.

    Raises:
        JobError: There is a job already, or the directory cannot be made.
        ConfigError: The settings are not valid.
    """
    require_no_job(layout)
    logins = separate_logins(new.seeds)
    new = _with_credentials(new, logins)
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
        raise JobError(
            message(
                "settings.cannot-be-written",
                "{root} cannot be written: {strerror}",
                root=layout.root,
                strerror=error.strerror,
            )
        ) from error


def _with_credentials(new: NewJob, logins: SeedLogins) -> NewJob:
    """Return the job with the logins of its seeds as credentials."""
    if not logins.credentials:
        return new
    fetch = dict(new.values.get("fetch") or {})
    fetch["credentials"] = [*fetch.get("credentials", ()), *logins.credentials]
    return replace(new, seeds=logins.lines, values={**new.values, "fetch": fetch})


def _has_plain_secret(settings: JobSettings) -> bool:
    values = (setting.value for setting in properties(settings))
    return any(isinstance(value, Secret) and value.is_plain for value in values)


def require_no_job(layout: Layout, option: str = "") -> None:
    """Raise JobError if there is a job already; `option` is the option for another place.

    Also if the path of the directory is not UTF-8.
    """
    layout.require_path()
    if layout.config.exists():
        how = f" with {option}" if option else ""
        resume = f"nacre run {layout.root}"
        if layout.in_rounds:
            resume = f"nacre cycle {layout.root} --rounds 1"
        raise JobError(
            message(
                "settings.is-job-already",
                "{root} is a job already. Resume it with `{resume}`, or name another "
                "directory{how}.",
                root=layout.root,
                resume=resume,
                how=how,
            )
        )


def _tree(layout: Layout, new: NewJob) -> dict[str, Any]:
    tree: dict[str, Any] = _profile(new.profile) if new.profile else {}
    tree |= {"name": layout.root.name, "seeds": SEEDS}
    if new.scope:
        tree["scope"] = [_rule(rule) for rule in new.scope]
    tree.update(new.values)
    return tree


def _profile(name: str) -> dict[str, Any]:
    """Return the line of the profile, with its purpose as a comment."""
    node = CommentedMap({"profile": name})
    purpose = next((profile.purpose for profile in list_profiles() if profile.name == name), "")
    if purpose:
        node.yaml_add_eol_comment(_first_sentence(purpose), "profile", column=32)
    return {"profile": node}


def _rule(rule: BaseModel) -> dict[str, Any]:
    """Return a rule in the form of the file, with the first sentence of its description."""
    fields = rule.model_dump(mode="json", exclude_defaults=True)
    fields.pop("rule", None)
    node = CommentedMap({"rule": getattr(rule, "rule", ""), **fields})
    node.yaml_add_eol_comment(_first_sentence(type(rule).__doc__ or ""), "rule", column=32)
    return node


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


def _dump(tree: Mapping[str, Any]) -> str:
    return "".join(
        yaml_text(value if key == "profile" else {key: _replace_secrets(value)})
        for key, value in tree.items()
    )


def _replace_secrets(value: Any) -> Any:  # noqa: ANN401 - as in YAML
    """Replace passwords that are in separate files by references."""
    if isinstance(value, Secret):
        return value.as_setting()
    if isinstance(value, CommentedMap):
        return value
    if isinstance(value, Mapping):
        return {key: _replace_secrets(inner) for key, inner in value.items()}
    return (
        [_replace_secrets(inner) for inner in value] if isinstance(value, list | tuple) else value
    )


def _often_set(tree: Mapping[str, Any], settings: JobSettings | None) -> str:
    """Return the usual settings as comments, with their defaults; not the settings of the file."""
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
        lines.append(_comment(name, facts[path]._replace(default=holds)))
    return "\n".join(lines) + "\n"


def _comment(name: str, facts: FieldFacts) -> str:
    default = list(facts.default) if isinstance(facts.default, tuple) else facts.default
    line = yaml_text({name: str(default) if isinstance(default, str) else default})
    unit = f" ({facts.unit})" if facts.unit else ""
    return f"#  {line.strip():<24} # {_first_sentence(facts.doc)}{unit}"
