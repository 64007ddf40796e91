"""Which sheets apply to a URI, and where the settings that it has come from."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from nacre.config.place import find, properties
from nacre.job.configuration.sheet_list import STOCK
from nacre.job.configuration.sheets import Sheets
from nacre.job.explaining.explanation import SettingAnswer
from nacre.job.runs.manifest import OriginOf


def settings_for(
    sheets: Sheets, overlay: int, sections: Sequence[str], origin: OriginOf
) -> Iterator[SettingAnswer]:
    """The settings of some sections, under a combination of sheets.

    Args:
        sheets: The job's.
        overlay: Number of the combination.
        sections: Paths of components, such as `politeness`.
        origin: Says where a path of the configuration comes from.
    """
    settings = sheets.overlays.settings[overlay]
    for section in sections:
        part = find(settings, section).value
        if isinstance(part, BaseModel):
            for found in properties(part):
                path = f"{section}.{found.path}"
                said = origin_under(sheets, overlay, path, origin)
                yield SettingAnswer(path, _plain(found.value), said)


def origin_under(sheets: Sheets, overlay: int, path: str, origin: OriginOf) -> str:
    """Where the value of a path comes from, under a combination of sheets."""
    for name in reversed(sheets.names(overlay)):
        sheet = sheets.overlays.sheets.get(name)
        if sheet is None:
            continue
        for given in sheet.values:
            if path == given or path.startswith(given + "."):
                where = str(origin(f"sheets.{name}.{given}"))
                stock = name in STOCK and where == "default"
                return f"sheet {name}, {'comes with Nacre' if stock else where}"
    return str(origin(path))


def _plain(value: object) -> str | float | bool | None:
    return value if value is None or isinstance(value, str | int | float) else str(value)
