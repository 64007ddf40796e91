"""A configuration of Heritrix: beans, and the properties that are set on them.

`crawler-beans.cxml` of Heritrix 3 is this already (`spring`); `order.xml` of Heritrix 1 is read
into the same form (`order`).
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from nacre.wire.xml import Element
from nacre_migrate.report import Conversion


class Ref(NamedTuple):
    """Another bean, by its name."""

    name: str


class Convertible:
    """A part of the input that a migration decides on; nothing is decided at first.

    Attributes:
        conversion: What it becomes; None while nothing is decided.
    """

    conversion: Conversion | None = None

    def decide(self, conversion: Conversion | None) -> None:
        """Set its conversion, in place of an earlier one; None: it is undecided again."""
        self.conversion = conversion

    def decide_if_undecided(self, conversion: Conversion | None) -> None:
        """Set its conversion, unless it has one."""
        self.conversion = self.conversion or conversion


@dataclass(eq=False)
class Setting(Convertible):
    """One property that is set.

    Attributes:
        name: Its name.
        value: Text, None for null, a `Ref`, a `Bean` on the spot, a list or a dict of these; the
            entries of a sheet are settings themselves.
        line: Its line.
        bean: On which bean.
        kind: Its kind in the report: `property`, `override`, `entry`, `element`.
        label: What the report calls it; "" for its bean and name.
        source: Element that its text is in; None for an attribute.
        origin: What its value was worked out from, for the report; "" where it is written there.
        doubt: Why its value, or a part of it, is not used; "" where all of it is.
    """

    name: str
    value: object
    line: int
    bean: "Bean"
    kind: str = "property"
    label: str = ""
    source: Element | None = None
    origin: str = ""
    doubt: str = ""

    def line_of(self, number: int) -> int:
        """The line of the file for a line of its text, counted from 0."""
        return self.line + number if self.source is None else self.source.line_of(number)

    def set_value(self, value: object) -> None:
        """Its value is this one."""
        self.value = value

    def stands_in(self, source: Element) -> None:
        """Whether its text is in this element."""
        self.source = source

    def came_from(self, origin: str) -> None:
        """Its value was worked out from this."""
        self.origin = origin

    def doubt_value(self, doubt: str) -> None:
        """Its value, or a part of it, is not used for this reason; "" for none."""
        self.doubt = doubt

    def move_to(self, bean: "Bean", name: str) -> None:
        """It is set on this bean, under this name; the report calls it as before."""
        self.label = self.label or self.name
        self.bean, self.name = bean, name
        bean.settings[name] = self

    def decide_with_parts(self, conversion: Conversion) -> None:
        """Set its conversion, and that of the inner beans in it."""
        self.decide(conversion)
        decide_inside(self.value, conversion)

    @property
    def text(self) -> str:
        """The value as text; that of lists and maps as well as it can be."""
        return text_of(self.value)

    @property
    def full_name(self) -> str:
        """With its bean: `fetchHttp.timeoutSeconds`."""
        if self.label or self.kind not in {"property", "entry"}:
            return self.label or self.name
        return f"{self.bean.label}.{self.name}"

    @property
    def place(self) -> str:
        """For a comment: name, file and line."""
        return f"{self.full_name}, {self.bean.file}:{self.line}"


@dataclass(eq=False)
class Bean(Convertible):
    """One bean.

    Attributes:
        name: Its id; "" for a bean on the spot.
        kind: Its class without package.
        package: Its class with package.
        file: The file.
        line: Its line.
        settings: The properties that hold, by name.
        owner: The property that it is a value of; None for one on its own.
        parent: The bean that it takes over from; "" for none.
        active: It takes part in the crawl: a processor that no chain lists does not.
        taken_for: How an operator's answer has it read, where its class is not known; else "".
    """

    name: str
    kind: str
    package: str
    file: str
    line: int
    settings: dict[str, Setting] = field(default_factory=dict)
    owner: Setting | None = None
    parent: str = ""
    active: bool = True
    taken_for: str = ""

    def decide_with_settings(self, conversion: Conversion) -> None:
        """Set its conversion, and that of its undecided properties."""
        self.decide(conversion)
        decide_all(self.settings.values(), conversion)

    def read_as(self, kind: str, taken_for: str) -> None:
        """Read it as a bean of this class, for the reason that the report gives."""
        self.kind, self.taken_for = kind, taken_for

    def inherit_class(self, parent: "Bean") -> None:
        """It is of the class of its parent."""
        self.kind, self.package = parent.kind, parent.package

    def drop_settings(self, dropped: Collection[Setting]) -> None:
        """It does not have these properties."""
        self.settings = {
            name: setting for name, setting in self.settings.items() if setting not in dropped
        }

    def switch_off(self) -> None:
        """It takes no part in the crawl."""
        self.active = False

    def switch_on(self) -> None:
        """It takes part in the crawl after all."""
        self.active = True

    @property
    def label(self) -> str:
        """The name in the report."""
        return self.name or self.kind or "bean"

    @property
    def place(self) -> str:
        """For a comment: name, file and line."""
        return f"{self.label}, {self.file}:{self.line}"

    def text(self, name: str, default: str = "") -> str:
        """The text of a property."""
        setting = self.settings.get(name)
        return setting.text if setting is not None else default

    def is_true(self, name: str, *, default: bool = False) -> bool:
        """A property is `true`."""
        return self.text(name, str(default)).strip().lower() == "true"


@dataclass
class Beans:
    """A whole configuration.

    Attributes:
        file: Name of its file.
        items: Every bean and every property of the input, in its order.
        named: The beans that hold, by id.
        values: Lists and maps on their own, by id.
        aliases: Other names of beans.
        extra: Beans that the input only implies; they are not counted.
    """

    file: str
    items: list[Bean | Setting] = field(default_factory=list)
    named: dict[str, Bean] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    extra: list[Bean] = field(default_factory=list)

    def add(self, item: Bean | Setting) -> None:
        """Add a bean or a property as the next item of the input."""
        self.items.append(item)

    def name(self, name: str, bean: Bean) -> None:
        """Give a bean a name, unless an earlier one has it."""
        self.named.setdefault(name, bean)

    def add_implied(self, bean: Bean) -> None:
        """Add a bean that the input only implies; it is not counted."""
        self.extra.append(bean)

    def add_setting(self, bean: Bean, setting: Setting) -> None:
        """The input sets a property of a bean."""
        self.add(setting)
        bean.settings[setting.name] = setting

    def beans(self) -> Iterator[Bean]:
        """All beans, in the order of the input."""
        return (item for item in self.items if isinstance(item, Bean))

    def of_kind(self, *kinds: str) -> list[Bean]:
        """The beans of some classes that hold, in the order of the input."""
        beans = (bean for bean in [*self.beans(), *self.extra] if bean.kind in kinds)
        return [bean for bean in beans if self.holds(bean)]

    def holds(self, bean: Bean) -> bool:
        """Whether no later bean of the same name has taken its place."""
        return not bean.name or bean.owner is not None or self.named.get(bean.name, bean) is bean

    def bean(self, name: str) -> Bean | None:
        """The bean of a name or of an alias; None when there is none."""
        for _ in range(10):
            if name not in self.aliases or name in self.named:
                break
            name = self.aliases[name]
        return self.named.get(name)

    def resolved(self, value: object) -> object:
        """A value with a reference followed; None where it leads nowhere."""
        if isinstance(value, Ref):
            bean = self.bean(value.name)
            value = self.values.get(value.name) if bean is None else bean
        return plain(value)

    def listed(self, value: object) -> list[object]:
        """The elements of a list with references followed; a single value is a list of one."""
        value = self.resolved(value)
        if isinstance(value, dict):
            value = list(value.values())
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [self.resolved(item) for item in items]

    def beans_in(self, setting: Setting | None) -> list[Bean]:
        """The beans of a property that holds one or several."""
        items = self.listed(setting.value) if setting is not None else []
        return [item for item in items if isinstance(item, Bean)]


def plain(value: object) -> object:
    """The value of a bean of Java's own, such as `java.lang.String`; others as they are."""
    if isinstance(value, Bean) and value.package.startswith("java.") and value.settings:
        return next(iter(value.settings.values())).value
    return value


def text_of(value: object) -> str:
    """A value as text."""
    value = plain(value)
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Ref):
        return f"-> {value.name}"
    if isinstance(value, Bean):
        return value.kind
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={text_of(item)}" for key, item in value.items())
    return ""


def inside(value: object) -> Iterator[Bean]:
    """The beans on the spot in a value."""
    if isinstance(value, Bean):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from inside(item)


def decide_all(settings: Iterable[Setting], conversion: Conversion) -> None:
    """Say what those properties become that are undecided, and the beans on the spot in them."""
    for setting in settings:
        setting.decide_if_undecided(conversion)
        decide_inside(setting.value, conversion)


def decide_inside(value: object, conversion: Conversion) -> None:
    """Set the conversion of the undecided inner beans in a value, with all their properties."""
    for bean in inside(value):
        bean.decide_if_undecided(conversion)
        decide_all(bean.settings.values(), conversion)
