"""Reads `order.xml` of Heritrix 1 into the form of beans.

Its tree: `<meta>`; `<controller>` with `<newObject name class>` for each module, `<map>` for lists
of them, `<string>`, `<integer>`, `<long>`, `<float>`, `<boolean>`, `<text>` and `<stringList>`
for values. A name in-such-letters becomes the name that Heritrix 3 has for it, where it has one.
"""

import re
from collections.abc import Iterator

from nacre.migrate.fate import to_check
from nacre.migrate.heritrix.beans import Bean, Beans, Setting
from nacre.migrate.heritrix.order_names import CLASSES, NAMES, OF_CLASS
from nacre.wire.xml import Element

VALUES = frozenset(
    ("string", "integer", "long", "float", "double", "boolean", "text", "byte", "short")
)
LISTS = frozenset(("stringList", "integerList", "longList", "floatList", "doubleList"))
OBJECTS = frozenset(("newObject", "object"))

_HYPHEN = re.compile(r"-+([A-Za-z0-9])")
_META = {"name": "jobName"}


class OrderReader:
    """Reads one order.

    Args:
        file: Its name, for the report.
    """

    def __init__(self, file: str) -> None:
        self.beans = Beans(file)

    def read(self, root: Element) -> Beans:
        """The beans of an order."""
        for element in root.children:
            if element.tag == "meta":
                self._meta(element)
            elif element.tag == "controller":
                self._controller(element)
            else:
                self._other(element)
        self._canonical()
        return self.beans

    def _meta(self, element: Element) -> None:
        bean = self._add("meta", "CrawlMetadata", element)
        for child in element.children:
            name = _META.get(child.tag, child.tag)
            self.beans.say(
                bean, Setting(name, child.text, child.line, bean, label=f"meta.{child.tag}")
            )

    def _controller(self, element: Element) -> None:
        bean = self._add("controller", "CrawlOrder", element)
        self._children(element, bean)

    def _add(self, name: str, kind: str, element: Element, package: str = "") -> Bean:
        bean = Bean(name, kind, package or kind, self.beans.file, element.line)
        self.beans.items.append(bean)
        self.beans.named.setdefault(name, bean)
        return bean

    def _children(self, element: Element, bean: Bean) -> None:
        for child in element.children:
            said = child.attributes.get("name", "")
            setting = Setting(
                property_of(bean.kind, said), None, child.line, bean, label=f"{bean.name}.{said}"
            )
            if child.tag in OBJECTS:
                self._module(child, said, bean, setting)
            elif child.tag == "map" and said == "http-headers":
                self._children(child, self._add(said, "HttpHeaders", child))
            elif child.tag == "map":
                self.beans.say(bean, setting)
                setting.value = self._modules(child, setting)
            elif child.tag in VALUES:
                setting.value = _value(setting.name, child.text)
                self.beans.say(bean, setting)
            elif child.tag in LISTS:
                setting.value = [value.text.strip() for value in child.children]
                self.beans.say(bean, setting)
            else:
                self._other(child)

    def _module(self, element: Element, name: str, owner: Bean, setting: Setting) -> None:
        """A module in a module: a bean of the input, and a property that is not counted."""
        setting.value = self._object(element, name, setting)
        owner.settings[setting.name] = setting

    def _object(self, element: Element, name: str, owner: Setting) -> Bean:
        package = element.attributes.get("class", "")
        kind = class_of(package)
        bean = self._add(name, kind, element, package)
        bean.owner = owner if owner.bean.kind != "CrawlOrder" else None
        self._children(element, bean)
        return bean

    def _modules(self, element: Element, owner: Setting) -> object:
        """The values of a map: modules as a list, texts by their names."""
        texts = {c.attributes.get("name", ""): c.text for c in element.children if c.tag in VALUES}
        if texts:
            return texts
        return [
            self._object(child, child.attributes.get("name", ""), owner)
            for child in element.children
            if child.tag in OBJECTS
        ]

    def _other(self, element: Element) -> None:
        said = " ".join(f'{name}="{value}"' for name, value in element.attributes.items())
        owner = Bean("", "", "", self.beans.file, element.line)
        item = Setting(f"<{element.tag}>", said, element.line, owner, "element")
        item.fate = to_check("not part of an order as Heritrix writes it")
        self.beans.items.append(item)

    def _canonical(self) -> None:
        """The map of canonicalization rules stands for the policy that Heritrix 3 has."""
        controller = self.beans.named.get("controller")
        rules = controller.settings.get("rules") if controller is not None else None
        if controller is None or rules is None:
            return
        policy = Bean(
            "", "RulesCanonicalizationPolicy", "", self.beans.file, rules.line, owner=rules
        )
        policy.settings["rules"] = rules
        self.beans.extra.append(policy)


def class_of(package: str) -> str:
    """Heritrix 3's name for a class of Heritrix 1."""
    kind = package.strip().rpartition(".")[2].replace("RegExp", "Regex")
    return CLASSES.get(kind, kind)


def property_of(kind: str, name: str) -> str:
    """Heritrix 3's name for a property of Heritrix 1."""
    if name.endswith("decide-rules") and kind != "DecidingScope":
        return "shouldFetchBodyRule" if "midfetch" in name else "shouldProcessRule"
    plain = _HYPHEN.sub(lambda found: found[1].upper(), name)
    return OF_CLASS.get(kind, {}).get(plain) or NAMES.get(plain, plain)


def _value(name: str, text: str) -> str:
    if name == "listLogicalOr":
        return "false" if text.strip().upper() == "AND" else "true"
    return text


def entries(element: Element, above: str = "") -> Iterator[tuple[str, Element]]:
    """The values in a settings file of one host: module and element.

    Args:
        element: `<crawl-settings>`, or what is inside of it.
        above: Name of the module.
    """
    for child in element.children:
        if child.tag in OBJECTS:
            yield from entries(child, child.attributes.get("name", ""))
        elif child.tag == "map":
            inside = child.attributes.get("name", "") if above == "controller" else above
            yield from entries(child, inside)
        elif child.tag == "controller":
            yield from entries(child, child.tag)
        elif child.tag in VALUES | LISTS:
            yield above or "controller", child
