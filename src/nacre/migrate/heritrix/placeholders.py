"""What Spring fills in: placeholders `${name:default}` and expressions `#{…}` of the simple kinds.

Placeholders are filled in where the configuration has a configurer for them; expressions always
are. Templates of other tools (`%{NAME}`, `{{ name }}`) were to be filled in before. A value in
which something stays open is not used, and flagged: it would reach the wire as it stands.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from nacre.config.ordinary import read_ordinary
from nacre.migrate.fate import SECRET, mapped, to_check
from nacre.migrate.heritrix.beans import Bean, Beans, Ref, Setting, text_of
from nacre.migrate.heritrix.expressions import translated
from nacre.migrate.heritrix.properties import read_properties
from nacre.migrate.heritrix.spring import is_override
from nacre.migrate.heritrix.variables import filled, open_doubt, still_open
from nacre.migrate.texts import read_lines

_KINDS = (
    "PropertyPlaceholderConfigurer",
    "PropertySourcesPlaceholderConfigurer",
    "PreferencesPlaceholderConfigurer",
)
_LATER = frozenset(("storePaths", "path", "directory", "cookiesLoadFile", "cookiesSaveFile"))
"""Properties that become paths in which `${env:NAME}` is understood."""

_OF_THEIR_OWN = frozenset(("format", "template", "suffix"))
"""Properties with variables that Heritrix itself fills in."""

_ELEMENT = "<property-placeholder>"
_LOCATION = re.compile(r'location="([^"]*)"')
_FILLED = "its values are filled in where they are used"
_MAX_BYTES = 1_000_000


def fill_placeholders(beans: Beans, directory: Path, environ: Mapping[str, str]) -> None:
    """Fill in what the configuration itself, a file beside it, or the environment says.

    Args:
        beans: The configuration.
        directory: Where its file lies.
        environ: The environment.
    """
    found = beans.of_kind(*_KINDS)
    values: dict[str, str] = {}
    for bean in found:
        values |= _values(beans, bean, directory)
    elements = [one for one in beans.items if isinstance(one, Setting) and one.name == _ELEMENT]
    for element in elements:
        element.fate = mapped("", _FILLED)
        said = _LOCATION.search(element.text)
        for name in said[1].split(",") if said else ():
            values |= _of_file(element, name.strip(), directory)
    known = {**environ, **values} if found or elements else None
    for item in beans.items:
        if isinstance(item, Setting) and item.bean not in found and item.kind != "element":
            _fill(item, known, environ)
    for name, value in beans.values.items():
        users = [one for one in beans.items if isinstance(one, Setting) and one.value == Ref(name)]
        own = Setting(name, value, 0, Bean("", "", "", beans.file, 0))
        _fill(own, known, environ)
        beans.values[name] = own.value
        for user in users:
            user.origin = own.origin


def _fill(item: Setting, values: Mapping[str, str] | None, environ: Mapping[str, str]) -> None:
    def text(said: str) -> str:
        if values is not None:
            said = filled(said, values)
        if "#{" not in said:
            return said
        # What the environment holds of a secret is nobody's business: its name goes on.
        is_secret = bool(SECRET.search(item.name))
        known = {} if is_secret else environ
        done = translated(said, known, later=is_secret or item.name in _LATER)
        for note in (*done.notes, done.problem):
            if note and note not in item.origin:
                item.origin = f"{item.origin}; {note}".removeprefix("; ")
        return done.text

    item.value = _each(item.value, text)


def set_open_aside(beans: Beans) -> None:
    """Take what stays open out of the beans, so that nothing of it is said in the new job.

    Of a list only the elements that stay open are left out. A default stands in for the value.
    """
    shared: dict[str, str] = {}
    for name, value in beans.values.items():
        beans.values[name], shared[name] = _without_open(value)
    lost: set[Setting] = set()
    for item in beans.items:
        if not isinstance(item, Setting) or item.kind == "element":
            continue
        if item.name in _OF_THEIR_OWN and "#{" not in item.text:
            continue
        if is_override(item.bean) or (item.bean.kind == "Sheet" and item.kind == "property"):
            continue  # its entries are looked at one by one
        if isinstance(item.value, Ref):
            item.doubt = shared.get(item.value.name, "")
        elif isinstance(item.value, list):
            item.value, item.doubt = _without_open(item.value)
        item.doubt = item.doubt or open_doubt(_own_text(item.value))
        if item.doubt and not (isinstance(item.value, list | Ref) and _has_more(beans, item)):
            lost.add(item)
    for bean in beans.beans():
        # A child has the properties of its parent, which are the same.
        bean.settings = {name: one for name, one in bean.settings.items() if one not in lost}


def _has_more(beans: Beans, item: Setting) -> bool:
    """Whether anything is left of a list."""
    return bool(beans.resolved(item.value))


def _without_open(value: object) -> tuple[object, str]:
    """A list or a map without the texts that stay open, and why they are left out; "" for none."""
    if isinstance(value, list):
        wrong = [one for one in value if isinstance(one, str) and still_open(one)]
        kept: object = [one for one in value if one not in wrong]
    elif isinstance(value, dict):
        wrong = [one for one in value.values() if isinstance(one, str) and still_open(one)]
        kept = {key: one for key, one in value.items() if one not in wrong}
    else:
        return value, ""
    if not wrong:
        return value, ""
    return kept, f"left out {len(wrong)} of {len(value)}: {open_doubt(wrong[0])}"


def _own_text(value: object) -> str:
    """The text of a value, without the beans and settings in it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(_own_text, value))
    if isinstance(value, dict):
        return "\n".join(map(_own_text, value.values()))
    if isinstance(value, Bean) and value.package.startswith("java."):
        return text_of(value)
    return ""


def _values(beans: Beans, bean: Bean, directory: Path) -> dict[str, str]:
    values: dict[str, str] = {}
    bean.fate = mapped("", _FILLED)
    encoding = bean.text("fileEncoding")
    for name, setting in bean.settings.items():
        setting.fate = bean.fate
        if name in {"properties", "location", "locations"}:
            texts = [setting.value] if name == "properties" else beans.listed(setting.value)
            for one in texts:
                values |= (
                    _of(one)
                    if name == "properties"
                    else _of_file(setting, one, directory, encoding)
                )
    return values


def _of(value: object) -> dict[str, str]:
    if isinstance(value, dict) and "" not in value:
        return {key: text_of(item) for key, item in value.items()}
    text = value.get("") if isinstance(value, dict) else value
    if not isinstance(text, str):
        return {}
    return {key: said.strip() for key, said, _ in read_properties(text)}


def _of_file(
    setting: Setting, value: object, directory: Path, encoding: str = ""
) -> dict[str, str]:
    name = text_of(value).removeprefix("file:").removeprefix("classpath:")
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        setting.fate = to_check(f"{name} is not read: it lies elsewhere")
        return {}
    try:
        return _of(_decoded(read_ordinary(path, _MAX_BYTES), encoding))
    except OSError as error:
        setting.fate = to_check(f"{name} cannot be read: {error.strerror}")
        return {}


def _decoded(data: bytes, encoding: str) -> str:
    """A list of properties as text: Java's is Latin-1, what people write is mostly UTF-8."""
    try:
        return data.decode(encoding or "utf-8-sig")
    except (UnicodeDecodeError, LookupError):
        return "\n".join(read_lines(data)[0])


def _each(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _each(item, change) for key, item in value.items()}
    return value
