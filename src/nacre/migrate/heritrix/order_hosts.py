"""Settings of single hosts and domains of Heritrix 1, which become sheets.

They are in `settings/org/example/www/settings.xml` for `www.example.org` and what is below it; the
directory is the order's `settings-directory`.
"""

import os
from pathlib import Path

from nacre.migrate.fate import to_check
from nacre.migrate.heritrix.beans import Bean, Beans, Setting
from nacre.migrate.heritrix.order import LISTS, entries, property_of
from nacre.migrate.xml import open_xml
from nacre.wire.xml import Element

_FILE = "settings.xml"
_MAX_FILES = 100_000


def read_hosts(beans: Beans, directory: Path) -> None:
    """Add a sheet and an association for each settings file beside the order.

    Raises:
        ConfigError: One of them is no XML that is read here.
    """
    controller = beans.named.get("controller")
    named = controller.text("settingsDirectory", "settings") if controller is not None else ""
    root = (directory / (named.strip() or "settings")).resolve()
    if not root.is_relative_to(directory.resolve()) or not root.is_dir():
        return
    found = (Path(folder) / _FILE for folder, _, files in os.walk(root) if _FILE in files)
    for path in sorted(found)[:_MAX_FILES]:
        labels = path.parent.relative_to(root).parts
        file = str(path.relative_to(directory.resolve()))
        _host(beans, ".".join(reversed(labels)), labels, file, open_xml(path))


def _host(beans: Beans, host: str, labels: tuple[str, ...], file: str, root: Element) -> None:
    sheet = Bean(host or "all-hosts", "Sheet", "settings of a host", file, root.line)
    beans.items.append(sheet)
    values: dict[str, object] = {}
    for module, element in entries(root):
        owner = beans.named.get(module)
        said = element.attributes.get("name", "")
        name = property_of(owner.kind if owner is not None else "", said)
        text: object = element.text
        if element.tag in LISTS:
            text = [value.text.strip() for value in element.children]
        entry = Setting(
            f"{module}.{name}", text, element.line, sheet, "entry", label=f"{module}.{said}"
        )
        beans.items.append(entry)
        values[entry.name] = entry
    _refinements(beans, sheet, root)
    sheet.settings["map"] = Setting("map", values, root.line, sheet)
    place = Bean("", "SurtPrefixesSheetAssociation", "", file, root.line)
    surt = "http://(" + "".join(f"{label}," for label in labels)
    for name, one in (("surtPrefixes", surt), ("targetSheetNames", sheet.name)):
        place.settings[name] = Setting(name, [one], root.line, place)
    beans.extra.append(place)


def _refinements(beans: Beans, sheet: Bean, root: Element) -> None:
    for element in root.walk():
        if element.tag == "refinement":
            item = Setting("<refinement>", element.text, element.line, sheet, "element")
            item.fate = to_check("settings at some hours or ports only: see bandwidth.windows")
            beans.items.append(item)
