"""A reader of the Spring XML of Heritrix 3, `crawler-beans.cxml`.

Known: beans with id, name, class, parent; property, constructor-arg, the `p:` and `c:` attributes;
value, ref, idref, null, inner beans, list, set, array, map, props; `util:` collections; alias; and
`import` of files of its directory. Other elements are kept as an `element`, and flagged later.
Nothing is executed, and no file of another directory is opened.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from nacre.wire.xml import Element
from nacre_migrate.files import TO_FILL_IN, open_xml
from nacre_migrate.heritrix.beans import Bean, Beans, Ref, Setting
from nacre_migrate.heritrix.expressions import filled, translated
from nacre_migrate.report import Conversion, defaulted, mapped, to_check

_SHORT = "http://www.springframework.org/schema/"
_LISTS = frozenset(("list", "set", "array"))
_COLLECTIONS = frozenset((*_LISTS, "map", "props", "properties"))
_IGNORED = frozenset(("description", "meta", "qualifier"))
_METHODS = ("factory-bean", "factory-method")
_HARMLESS = {"annotation-config", "component-scan"}
_PARTS = "put the beans of that file beside this one, or into it, and migrate again"
_MAX_FILES = 100


class SpringReader:
    """Reads one document.

    Args:
        file: Its name, for the report.
        directory: Its directory; files that it imports are read from there.
        environ: The environment, which names of imports can refer to.
    """

    def __init__(self, file: str, directory: Path, environ: Mapping[str, str]) -> None:
        self.beans = Beans(file)
        self._file = file
        self._read = {file}
        self._directory = directory
        self._environ = environ
        self._of_tag: dict[str, Callable[[Element, Setting], object]] = {
            "bean": self._inner,
            "ref": lambda element, _: Ref(_target(element)),
            "idref": lambda element, _: _target(element),
            "value": self._text,
            "null": lambda *_: None,
            "map": self._map,
            **dict.fromkeys(_LISTS, self._list),
            **dict.fromkeys(("props", "properties"), self._props),
        }

    def read(self, root: Element) -> Beans:
        """The beans of a document."""
        for match in TO_FILL_IN.finditer(root.text):
            item = self._element(Element(match[0], "", {}, root.line))
            item.decide(to_check("a placeholder of a template: what it was to become is missing"))
        for element in root.children:
            self._top(element)
        for bean in self.beans.beans():
            _inherit(self.beans, bean)
        return self.beans

    def _top(self, element: Element) -> None:
        tag = element.tag
        if tag == "beans":
            for child in element.children:
                self._top(child)
        elif tag == "bean":
            self._named(element)
        elif tag in _COLLECTIONS and element.attributes.get("id"):
            holder = self._element(element)
            self.beans.values[element.attributes["id"]] = self._of_tag[tag](element, holder)
        elif tag == "alias":
            self.beans.aliases[element.attributes.get("alias", "")] = element.attributes.get(
                "name", ""
            )
            self._element(element)
        elif tag not in _IGNORED:
            self._unknown(element)

    def _unknown(self, element: Element) -> None:
        item = self._element(element)
        if element.tag == "import":
            item.decide(self._import(element))
        elif element.tag not in _HARMLESS:
            item.decide(to_check("not read: only beans and their properties are"))

    def _import(self, element: Element) -> Conversion:
        """Read the beans of a file beside this one; they take its place."""
        resource = element.attributes.get("resource", "")
        name = translated(filled(resource, self._environ), self._environ).text
        name = name.removeprefix("file:").removeprefix("classpath:")
        path = self._directory / name
        inside = path.resolve().is_relative_to(self._directory.resolve())
        if not inside or not path.is_file():
            reason = "is not there" if inside else "is not read, because it lies elsewhere"
            return to_check(f"{name} {reason}, so its beans are missing: {_PARTS}")
        if name in self._read or len(self._read) >= _MAX_FILES:
            return defaulted("read already")
        self._read.add(name)
        root = open_xml(path)
        above, self._file = self._file, name
        self._top(root)
        self._file = above
        return mapped("", f"{name} is read; its beans count as those of this file")

    def _element(self, element: Element) -> Setting:
        """An element that is neither bean nor property."""
        text = " ".join(f'{name}="{value}"' for name, value in element.attributes.items())
        owner = Bean("", "", "", self._file, element.line)
        item = Setting(f"<{element.tag}>", text, element.line, owner, "element")
        self.beans.add(item)
        return item

    def _named(self, element: Element) -> None:
        others = element.attributes.get("name", "").replace(",", " ").replace(";", " ").split()
        bean = self._bean(element, None, others[0] if others else "")
        if bean.name:
            self.beans.named[bean.name] = bean
        for alias in others:
            if alias != bean.name:
                self.beans.aliases[alias] = bean.name

    def _inner(self, element: Element, owner: Setting) -> Bean:
        return self._bean(element, owner)

    def _bean(self, element: Element, owner: Setting | None, other_name: str = "") -> Bean:
        package = element.attributes.get("class", "").strip()
        kind = package.rpartition(".")[2]
        name = element.attributes.get("id", "").strip() or other_name
        parent = element.attributes.get("parent", "").strip()
        bean = Bean(name, kind, package, self._file, element.line, owner=owner, parent=parent)
        self.beans.add(bean)
        if any(element.attributes.get(method) for method in _METHODS):
            bean.decide(to_check("made by a method of a class, which cannot be run"))
        self._attributes(element, bean)
        for child in element.children:
            self._part(child, bean)
        return bean

    def _attributes(self, element: Element, bean: Bean) -> None:
        """`p:name="text"`, `p:name-ref="bean"`, and `c:` likewise."""
        for name, value in element.attributes.items():
            namespace, brace, local = name.rpartition("}")
            if brace and namespace[1:] in (f"{_SHORT}p", f"{_SHORT}c"):
                plain = local.removesuffix("-ref")
                content: object = Ref(value) if plain != local else value
                self.beans.add_setting(
                    bean, Setting(property_name(plain), content, element.line, bean)
                )

    def _part(self, element: Element, bean: Bean) -> None:
        if element.tag == "property":
            name = element.attributes.get("name", "").strip()
            setting = Setting(property_name(name), None, element.line, bean)
        elif element.tag == "constructor-arg":
            place = element.attributes.get("name") or element.attributes.get("index") or ""
            setting = Setting(f"constructor-arg{place and ' ' + place}", None, element.line, bean)
        elif element.tag in _IGNORED:
            return
        else:
            self._element(element).decide(to_check("not read: only properties are"))
            return
        self.beans.add_setting(bean, setting)
        setting.set_value(self._value(element, setting))

    def _value(self, element: Element, owner: Setting) -> object:
        """The value of an element with `value`, `ref` or a child."""
        if "value" in element.attributes:
            return element.attributes["value"]
        if "ref" in element.attributes:
            return Ref(element.attributes["ref"])
        for child in element.children:
            read = self._of_tag.get(child.tag)
            if read is not None:
                return read(child, owner)
        return self._text(element, owner)

    def _text(self, element: Element, owner: Setting) -> str:
        owner.stands_in(element)
        return element.text

    def _list(self, element: Element, owner: Setting) -> list[object]:
        readers = ((child, self._of_tag.get(child.tag)) for child in element.children)
        values = [read(child, owner) for child, read in readers if read is not None]
        return [*values, *self._to_fill_in(element, owner)]

    def _to_fill_in(self, element: Element, owner: Setting) -> Iterator[Bean]:
        """Placeholders of a template among the elements of a list: as beans of an unknown class."""
        for match in TO_FILL_IN.finditer(element.text):
            name = match[0].strip("%{} ")
            line = element.line_of(element.text.count("\n", 0, match.start()))
            bean = Bean("", name, match[0], self._file, line, owner=owner)
            self.beans.add(bean)
            yield bean

    def _map(self, element: Element, owner: Setting) -> dict[str, object]:
        entries: dict[str, object] = {}
        for entry in element.find_all("entry"):
            key = entry.attributes.get("key") or entry.attributes.get("key-ref")
            if key is None:
                inner = entry.find("key")
                key = "".join(child.text for child in inner.children) if inner else ""
            name = key.strip()
            if _is_sheet(owner):
                entries[name] = self._entry(entry, name, owner)
            elif "value-ref" in entry.attributes:
                entries[name] = Ref(entry.attributes["value-ref"])
            else:
                entries[name] = self._entry_value(entry, owner)
        return entries

    def _entry(self, entry: Element, name: str, owner: Setting) -> Setting:
        """An entry of a sheet is counted as a property is."""
        setting = Setting(name, None, entry.line, owner.bean, "entry")
        self.beans.add(setting)
        reference = entry.attributes.get("value-ref")
        setting.set_value(Ref(reference) if reference else self._entry_value(entry, owner))
        return setting

    def _entry_value(self, entry: Element, owner: Setting) -> object:
        if "value" in entry.attributes:
            return entry.attributes["value"]
        readers = ((child, self._of_tag.get(child.tag)) for child in entry.children)
        return next((read(child, owner) for child, read in readers if read is not None), "")

    def _props(self, element: Element, owner: Setting) -> dict[str, object]:
        if not element.children:
            owner.stands_in(element)
            return {"": element.text}
        properties: dict[str, object] = {}
        for prop in element.find_all("prop"):
            name = prop.attributes.get("key", "").strip()
            if _is_sheet(owner) or is_override(owner.bean):
                kind = "entry" if _is_sheet(owner) else "override"
                setting = Setting(name, prop.text, prop.line, owner.bean, kind)
                self.beans.add(setting)
                properties[name] = setting
            else:
                properties[name] = prop.text
        return properties


def is_override(bean: Bean) -> bool:
    """The bean sets properties of others."""
    return bean.kind in {"PropertyOverrideConfigurer", "PropertyOverrideConfigurerBean"}


def property_name(name: str) -> str:
    """A property as JavaBeans calls it: `MaxWaitForIdleMs` is `maxWaitForIdleMs`."""
    acronym = name[:2].isupper() and len(name) > 1
    return name if acronym else name[:1].lower() + name[1:]


def _is_sheet(owner: Setting) -> bool:
    return owner.bean.kind == "Sheet"


def _target(element: Element) -> str:
    names = (element.attributes.get(name) for name in ("bean", "local", "parent"))
    return next((name for name in names if name), element.text.strip())


def _inherit(beans: Beans, bean: Bean) -> None:
    """Give children the properties of their parent bean that they do not have."""
    seen = {bean.name}
    above = beans.bean(bean.parent) if bean.parent else None
    while above is not None and above.name not in seen:
        seen.add(above.name)
        if not bean.kind:
            bean.inherit_class(above)
        for name, setting in above.settings.items():
            bean.settings.setdefault(name, setting)
        above = beans.bean(above.parent) if above.parent else None
