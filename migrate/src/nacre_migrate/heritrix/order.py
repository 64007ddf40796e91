"""A reader of `order.xml` of Heritrix 1, which gives the form of beans.

Its tree: `<meta>`; `<controller>` with `<newObject name class>` for each module, `<map>` for lists
of them, `<string>`, `<integer>`, `<long>`, `<float>`, `<boolean>`, `<text>` and `<stringList>`
for values. A name in-such-letters becomes the name that Heritrix 3 has for it, if there is one.

Settings of single hosts and domains become sheets. They are in
`settings/org/example/www/settings.xml` for `www.example.org` and what is below it; the directory is
the order's `settings-directory`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from nacre.wire.xml import Element
from nacre_migrate.files import open_xml
from nacre_migrate.heritrix.beans import Bean, Beans, Setting
from nacre_migrate.heritrix.mappings import (
    ORDER_CLASS_NAMES,
    ORDER_PROPERTY_NAMES,
    ORDER_PROPERTY_NAMES_OF,
)
from nacre_migrate.report import to_check

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
            self.beans.add_setting(
                bean, Setting(name, child.text, child.line, bean, label=f"meta.{child.tag}")
            )

    def _controller(self, element: Element) -> None:
        bean = self._add("controller", "CrawlOrder", element)
        self._children(element, bean)

    def _add(
        self,
        name: str,
        kind: str,
        element: Element,
        package: str = "",
        owner: Setting | None = None,
    ) -> Bean:
        bean = Bean(name, kind, package or kind, self.beans.file, element.line, owner=owner)
        self.beans.add(bean)
        self.beans.name(name, bean)
        return bean

    def _children(self, element: Element, bean: Bean) -> None:
        for child in element.children:
            attribute = child.attributes.get("name", "")
            setting = Setting(
                property_of(bean.kind, attribute),
                None,
                child.line,
                bean,
                label=f"{bean.name}.{attribute}",
            )
            if child.tag in OBJECTS:
                self._module(child, attribute, bean, setting)
            elif child.tag == "map" and attribute == "http-headers":
                self._children(child, self._add(attribute, "HttpHeaders", child))
            elif child.tag == "map":
                self.beans.add_setting(bean, setting)
                setting.set_value(self._modules(child, setting))
            elif child.tag in VALUES:
                setting.set_value(_value(setting.name, child.text))
                self.beans.add_setting(bean, setting)
            elif child.tag in LISTS:
                setting.set_value([value.text.strip() for value in child.children])
                self.beans.add_setting(bean, setting)
            else:
                self._other(child)

    def _module(self, element: Element, name: str, owner: Bean, setting: Setting) -> None:
        """A module in a module: a bean of the input, and a property that is not counted."""
        setting.set_value(self._object(element, name, setting))
        owner.settings[setting.name] = setting

    def _object(self, element: Element, name: str, owner: Setting) -> Bean:
        package = element.attributes.get("class", "")
        kind = class_of(package)
        above = owner if owner.bean.kind != "CrawlOrder" else None
        bean = self._add(name, kind, element, package, above)
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
        text = " ".join(f'{name}="{value}"' for name, value in element.attributes.items())
        owner = Bean("", "", "", self.beans.file, element.line)
        item = Setting(f"<{element.tag}>", text, element.line, owner, "element")
        item.decide(to_check("not part of an order as Heritrix writes it"))
        self.beans.add(item)

    def _canonical(self) -> None:
        """The map of canonicalization rules stands for the policy that Heritrix 3 has."""
        controller = self.beans.bean("controller")
        rules = controller.settings.get("rules") if controller is not None else None
        if controller is None or rules is None:
            return
        policy = Bean(
            "", "RulesCanonicalizationPolicy", "", self.beans.file, rules.line, owner=rules
        )
        policy.settings["rules"] = rules
        self.beans.add_implied(policy)


def class_of(package: str) -> str:
    """Heritrix 3's name for a class of Heritrix 1."""
    kind = package.strip().rpartition(".")[2].replace("RegExp", "Regex")
    return ORDER_CLASS_NAMES.get(kind, kind)


def property_of(kind: str, name: str) -> str:
    """Heritrix 3's name for a property of Heritrix 1."""
    if name.endswith("decide-rules") and kind != "DecidingScope":
        return "shouldFetchBodyRule" if "midfetch" in name else "shouldProcessRule"
    plain = _HYPHEN.sub(lambda match: match[1].upper(), name)
    own = ORDER_PROPERTY_NAMES_OF.get(kind, {}).get(plain)
    return own or ORDER_PROPERTY_NAMES.get(plain, plain)


def _value(name: str, text: str) -> str:
    if name == "listLogicalOr":
        return "false" if text.strip().upper() == "AND" else "true"
    return text


def entries(element: Element, above: str = "") -> Iterator[tuple[str, Element]]:
    """The values in a settings file of one host: module and element.

    Args:
        element: `<crawl-settings>`, or its content.
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


_FILE = "settings.xml"
_MAX_FILES = 100_000


def read_hosts(beans: Beans, directory: Path) -> None:
    """Add a sheet and an association for each settings file beside the order.

    Raises:
        ConfigError: One of them is not XML that is read here.
    """
    controller = beans.named.get("controller")
    named = controller.text("settingsDirectory", "settings") if controller is not None else ""
    root = (directory / (named.strip() or "settings")).resolve()
    if not root.is_relative_to(directory.resolve()) or not root.is_dir():
        return
    paths = (Path(folder) / _FILE for folder, _, files in os.walk(root) if _FILE in files)
    for path in sorted(paths)[:_MAX_FILES]:
        labels = path.parent.relative_to(root).parts
        file = str(path.relative_to(directory.resolve()))
        _host(beans, ".".join(reversed(labels)), labels, file, open_xml(path))


def _host(beans: Beans, host: str, labels: tuple[str, ...], file: str, root: Element) -> None:
    sheet = Bean(host or "all-hosts", "Sheet", "settings of a host", file, root.line)
    beans.add(sheet)
    values: dict[str, object] = {}
    for module, element in entries(root):
        owner = beans.named.get(module)
        attribute = element.attributes.get("name", "")
        name = property_of(owner.kind if owner is not None else "", attribute)
        text: object = element.text
        if element.tag in LISTS:
            text = [value.text.strip() for value in element.children]
        entry = Setting(
            f"{module}.{name}", text, element.line, sheet, "entry", label=f"{module}.{attribute}"
        )
        beans.add(entry)
        values[entry.name] = entry
    _refinements(beans, sheet, root)
    sheet.settings["map"] = Setting("map", values, root.line, sheet)
    place = Bean("", "SurtPrefixesSheetAssociation", "", file, root.line)
    surt = "http://(" + "".join(f"{label}," for label in labels)
    for name, content in (("surtPrefixes", surt), ("targetSheetNames", sheet.name)):
        place.settings[name] = Setting(name, [content], root.line, place)
    beans.extra.append(place)


def _refinements(beans: Beans, sheet: Bean, root: Element) -> None:
    for element in root.walk():
        if element.tag == "refinement":
            item = Setting("<refinement>", element.text, element.line, sheet, "element")
            item.decide(to_check("settings at some hours or ports only: see bandwidth.windows"))
            beans.add(item)
