"""Property overrides of Spring: `bean.property=value` in place of what stands on the bean."""

import difflib
import re
from collections.abc import Iterator

from nacre.migrate.fate import defaulted, mapped, to_check
from nacre.migrate.heritrix.beans import Bean, Beans, Setting
from nacre.migrate.heritrix.properties import read_properties
from nacre.migrate.heritrix.spring import is_override, property_name

_PART = re.compile(r"([^.\[\]]+)((?:\[[^\]]*\])*)(?:\.|\Z)")


def apply_overrides(beans: Beans) -> None:
    """Put what overrides say on the beans that they name; the later one wins."""
    for bean in [bean for bean in beans.beans() if is_override(bean)]:
        bean.fate = mapped("", "what it overrides is said at the beans")
        for name, setting in list(bean.settings.items()):
            if name == "properties":
                _apply(beans, bean, setting)
            else:
                setting.fate = defaulted("of Spring alone")


def _apply(beans: Beans, bean: Bean, properties: Setting) -> None:
    properties.fate = mapped("", "a list of overrides, which follow")
    for override in list(_entries(beans, bean, properties)):
        target = locate(beans, override.name)
        if target is None:
            override.fate = to_check(_nowhere(beans, override.name))
            continue
        owner, name = target
        before = owner.settings.get(name)
        if before is not None:
            before.fate = defaulted(f"overridden at {bean.file}:{override.line}")
        # The override itself becomes the property, so that its fate is that of the property.
        override.bean, override.name, override.label = owner, name, override.name
        owner.settings[name] = override


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
    for key, said, line in read_properties(text):
        override = Setting(key, said, properties.line_of(line), bean, "override")
        beans.items.insert(place, override)
        place += 1
        yield override


def locate(beans: Beans, path: str) -> tuple[Bean, str] | None:
    """The bean and the name of the property that a dotted path leads to; None when to none."""
    parts = [(found[1], found[2]) for found in _PART.finditer(path.strip())]
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
        return "leads to no property that can be set: what stands before its last dot is no bean"
    near = difflib.get_close_matches(name, beans.named, n=1, cutoff=0.7)
    return f"there is no bean {name}" + (f"; perhaps {near[0]}" if near else "")
