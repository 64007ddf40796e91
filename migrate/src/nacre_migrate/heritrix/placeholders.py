"""Placeholders, expressions and overrides: what Spring works out before beans are made.

Placeholders `${name:default}` are filled in where the configuration has a configurer for them,
expressions `#{…}` always. Templates of other tools (`%{NAME}`, `{{ name }}`) should have been
filled in before. A value in which something stays open is not used, and flagged: it would reach the
wire unchanged. Overrides say `bean.property=value` in place of the value on the bean. Both may
be in Java's property lists: `key=value` lines, with comments, escapes and continued lines.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from nacre.machine.local_files import read_ordinary
from nacre_migrate.files import read_lines
from nacre_migrate.heritrix.beans import Bean, Beans, Ref, Setting, text_of
from nacre_migrate.heritrix.expressions import filled, open_doubt, still_open, translated
from nacre_migrate.heritrix.spring import is_override, property_name
from nacre_migrate.report import SECRET, defaulted, mapped, to_check

_SPLIT = re.compile(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)\Z", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(text: str) -> Iterator[tuple[str, str, int]]:
    """Key, value and number of the line, from 0, of each entry of a list."""
    for line, number in _logical_lines(text):
        key, value = (_unescaped(part) for part in _split(line))
        yield key, value, number


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    held, begun = "", 0
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text)):
        line = raw.lstrip()
        if not held and (not line or line[0] in "#!"):
            continue
        begun = begun if held else number
        if _continues(line):
            held += line[:-1] or " "
            continue
        yield held + line, begun
        held = ""
    if held.strip():
        yield held, begun


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    match = _SPLIT.match(line)
    return (match[1], match[2]) if match else (line, "")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_letter, text)


def _letter(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _LETTERS.get(code, code)


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
    """Fill in values of the configuration, of a file of its directory, or of the environment.

    Args:
        beans: The configuration.
        directory: The directory of its file.
        environ: The environment.
    """
    configurers = beans.of_kind(*_KINDS)
    values: dict[str, str] = {}
    for bean in configurers:
        values |= _values(beans, bean, directory)
    elements = [
        setting
        for setting in beans.items
        if isinstance(setting, Setting) and setting.name == _ELEMENT
    ]
    for element in elements:
        element.decide(mapped("", _FILLED))
        match = _LOCATION.search(element.text)
        for name in match[1].split(",") if match else ():
            values |= _of_file(element, name.strip(), directory)
    variables = {**environ, **values} if configurers or elements else None
    for item in beans.items:
        if isinstance(item, Setting) and item.bean not in configurers and item.kind != "element":
            _fill(item, variables, environ)
    for name, value in beans.values.items():
        users = [
            setting
            for setting in beans.items
            if isinstance(setting, Setting) and setting.value == Ref(name)
        ]
        own = Setting(name, value, 0, Bean("", "", "", beans.file, 0))
        _fill(own, variables, environ)
        beans.values[name] = own.value
        for user in users:
            user.came_from(own.origin)


def _fill(item: Setting, values: Mapping[str, str] | None, environ: Mapping[str, str]) -> None:
    def text(value: str) -> str:
        if values is not None:
            value = filled(value, values)
        if "#{" not in value:
            return value
        # The environment's value of a secret is not copied: its name goes on.
        is_secret = bool(SECRET.search(item.name))
        variables = {} if is_secret else environ
        done = translated(value, variables, later=is_secret or item.name in _LATER)
        for note in (*done.notes, done.problem):
            if note and note not in item.origin:
                item.came_from(f"{item.origin}; {note}".removeprefix("; "))
        return done.text

    item.set_value(_each(item.value, text))


def set_open_aside(beans: Beans) -> None:
    """Take what stays open out of the beans, so that nothing of it is said in the new job.

    Of a list only the elements that stay open are left out. A default replaces the value.
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
            item.doubt_value(shared.get(item.value.name, ""))
        elif isinstance(item.value, list):
            value, doubt = _without_open(item.value)
            item.set_value(value)
            item.doubt_value(doubt)
        item.doubt_value(item.doubt or open_doubt(_own_text(item.value)))
        if item.doubt and not (isinstance(item.value, list | Ref) and _has_more(beans, item)):
            lost.add(item)
    for bean in beans.beans():
        # A child has the properties of its parent, which are the same.
        bean.drop_settings(lost)


def _has_more(beans: Beans, item: Setting) -> bool:
    """Whether anything is left of a list."""
    return bool(beans.resolved(item.value))


def _without_open(value: object) -> tuple[object, str]:
    """A list or a map without the texts that stay open, and why they are left out; "" for none."""
    if isinstance(value, list):
        wrong = [part for part in value if isinstance(part, str) and still_open(part)]
        rest: object = [part for part in value if part not in wrong]
    elif isinstance(value, dict):
        wrong = [part for part in value.values() if isinstance(part, str) and still_open(part)]
        rest = {key: part for key, part in value.items() if part not in wrong}
    else:
        return value, ""
    if not wrong:
        return value, ""
    return rest, f"left out {len(wrong)} of {len(value)}: {open_doubt(wrong[0])}"


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
    bean.decide(mapped("", _FILLED))
    encoding = bean.text("fileEncoding")
    for name, setting in bean.settings.items():
        setting.decide(bean.conversion)
        if name in {"properties", "location", "locations"}:
            texts = [setting.value] if name == "properties" else beans.listed(setting.value)
            for text in texts:
                values |= (
                    _of(text)
                    if name == "properties"
                    else _of_file(setting, text, directory, encoding)
                )
    return values


def _of(value: object) -> dict[str, str]:
    if isinstance(value, dict) and "" not in value:
        return {key: text_of(item) for key, item in value.items()}
    text = value.get("") if isinstance(value, dict) else value
    if not isinstance(text, str):
        return {}
    return {key: written.strip() for key, written, _ in read_properties(text)}


def _of_file(
    setting: Setting, value: object, directory: Path, encoding: str = ""
) -> dict[str, str]:
    name = text_of(value).removeprefix("file:").removeprefix("classpath:")
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        setting.decide(to_check(f"{name} is not read: it lies elsewhere"))
        return {}
    try:
        return _of(_decoded(read_ordinary(path, _MAX_BYTES), encoding))
    except OSError as error:
        setting.decide(to_check(f"{name} cannot be read: {error.strerror}"))
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


_PART = re.compile(r"([^.\[\]]+)((?:\[[^\]]*\])*)(?:\.|\Z)")


def apply_overrides(beans: Beans) -> None:
    """Put what overrides say on the beans that they name; the later one wins."""
    for bean in [bean for bean in beans.beans() if is_override(bean)]:
        bean.decide(mapped("", "the overridden beans are listed with their new values"))
        for name, setting in list(bean.settings.items()):
            if name == "properties":
                _apply(beans, bean, setting)
            else:
                setting.decide(defaulted("of Spring alone"))


def _apply(beans: Beans, bean: Bean, properties: Setting) -> None:
    properties.decide(mapped("", "a list of overrides, which follow"))
    for override in list(_entries(beans, bean, properties)):
        target = locate(beans, override.name)
        if target is None:
            override.decide(to_check(_nowhere(beans, override.name)))
            continue
        owner, name = target
        before = owner.settings.get(name)
        if before is not None:
            before.decide(defaulted(f"overridden at {bean.file}:{override.line}"))
        # The override itself becomes the property, so that its conversion is that of the property.
        override.move_to(owner, name)


def _entries(beans: Beans, bean: Bean, properties: Setting) -> Iterator[Setting]:
    value = properties.value
    if isinstance(value, dict):
        text = value.get("")
        yield from (item for item in value.values() if isinstance(item, Setting))
    else:
        text = value
    if not isinstance(text, str):
        return
    place = beans.items.index(properties) + 1
    for key, written, line in read_properties(text):
        override = Setting(key, written, properties.line_of(line), bean, "override")
        beans.items.insert(place, override)
        place += 1
        yield override


def locate(beans: Beans, path: str) -> tuple[Bean, str] | None:
    """The bean and the name of the property that a dotted path leads to; None when to none."""
    parts = [(match[1], match[2]) for match in _PART.finditer(path.strip())]
    bean = beans.bean(parts[0][0]) if len(parts) > 1 else None
    for name, index in parts[1:-1]:
        if bean is None:
            return None
        setting = bean.settings.get(property_name(name))
        # What is not set is wired by name.
        value = beans.resolved(setting.value) if setting is not None else beans.bean(name)
        value = _element(beans, value, index) if index else value
        bean = value if isinstance(value, Bean) else None
    if bean is None or parts[-1][1]:
        return None
    return bean, property_name(parts[-1][0])


def _element(beans: Beans, value: object, index: str) -> object:
    """`[2]` of a list, `[key]` of a map."""
    key = index.strip("[]").strip("'\"")
    if isinstance(value, dict):
        return beans.resolved(value.get(key))
    if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
        return beans.resolved(value[int(key)])
    return None


def _nowhere(beans: Beans, path: str) -> str:
    name = path.partition(".")[0]
    if "." not in path:
        return "no override: it has no bean.property"
    if beans.bean(name) is not None:
        return "names no property that can be set: the part before its last dot is not a bean"
    near = difflib.get_close_matches(name, beans.named, n=1, cutoff=0.7)
    return f"there is no bean {name}" + (f"; perhaps {near[0]}" if near else "")
