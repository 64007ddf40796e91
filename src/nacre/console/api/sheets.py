"""`/api/v1/jobs/J/sheets` and `associations`: other settings for some URIs."""

from typing import Any

import msgspec

from nacre.console.api.config import ask
from nacre.console.api.settings import ChangedSettings, change
from nacre.console.call import Call
from nacre.console.problems import not_found
from nacre.core.clock import iso
from nacre.job.apply_change import ChangeRequest
from nacre.ops.fields import Flag, LineText, LineTexts, Order, ShortText, ShortTexts, Texts


class SheetFacts(msgspec.Struct, frozen=True):
    """A sheet.

    Attributes:
        name: Its name.
        shipped: It comes with Nacre.
        values: What it says, by path.
        used: URIs are associated with it.
    """

    name: str
    shipped: bool
    values: dict[str, str]
    used: bool


class AssociationFacts(msgspec.Struct, frozen=True):
    """An association of sheets with URIs.

    Attributes:
        number: Its place in `sheet_associations`, from 0.
        sheets: Its sheets, the strongest last.
        surts: SURT prefixes or URLs.
        file: File of more prefixes; "" for none.
        rules: Rules that say which URIs.
        order: Its order among rules; later ones are stronger.
    """

    number: int
    sheets: tuple[str, ...]
    surts: tuple[str, ...]
    file: str
    rules: tuple[str, ...]
    order: int


class OverruledValue(msgspec.Struct, frozen=True):
    """A value of a weaker sheet.

    Attributes:
        sheet: The sheet.
        value: What it says.
    """

    sheet: str
    value: str


class HoldingValue(msgspec.Struct, frozen=True):
    """A setting as sheets say it.

    Attributes:
        path: Its path.
        value: The value that holds.
        sheet: The sheet that says so.
        overruled: What weaker sheets say, the weakest first.
        origin: Where the sheet says it, such as a file and its line; "" for one that comes with
            Nacre.
        plain: The value where no sheet applies.
    """

    path: str
    value: str
    sheet: str
    overruled: tuple[OverruledValue, ...] = ()
    origin: str = ""
    plain: str = ""


class SheetPlace(msgspec.Struct, frozen=True):
    """A prefix in the tree of prefixes.

    Attributes:
        prefix: The SURT prefix.
        text: As the file has it.
        depth: How many other prefixes contain it.
        sheets: The sheets of the prefix itself.
        holds: What holds there, with the sheets of the prefixes that contain it.
    """

    prefix: str
    text: str
    depth: int
    sheets: tuple[str, ...]
    holds: tuple[HoldingValue, ...]


class SheetAnswer(msgspec.Struct, frozen=True):
    """The sheets of a job.

    Attributes:
        items: The sheets.
        associations: What they apply to.
        places: The prefixes, each behind those that contain it.
        keys: The settings that a sheet can change.
        next: Always null: all are given.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[SheetFacts, ...]
    associations: tuple[AssociationFacts, ...]
    places: tuple[SheetPlace, ...]
    keys: tuple[str, ...]
    next: None
    as_of: str


class SheetDetails(msgspec.Struct, frozen=True):
    """A sheet, and where it applies.

    Attributes:
        name: Its name.
        shipped: It comes with Nacre.
        values: What it says, by path.
        associations: The associations that name it.
    """

    name: str
    shipped: bool
    values: dict[str, str]
    associations: tuple[AssociationFacts, ...]


class AssociationList(msgspec.Struct, frozen=True):
    """All associations of sheets with URIs.

    Attributes:
        items: They, in the order of the file.
        next: Always null: all are given.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[AssociationFacts, ...]
    next: None
    as_of: str


class SheetsAtQuery(msgspec.Struct, frozen=True):
    """A URL.

    Attributes:
        u: It; without a scheme as in a seed list.
    """

    u: LineText = ""


class SheetsAtUrl(msgspec.Struct, frozen=True):
    """The sheets that apply to a URL.

    Attributes:
        url: As it would be requested.
        sheets: Their names, the strongest last.
        holds: What they say.
    """

    url: str
    sheets: tuple[str, ...]
    holds: tuple[HoldingValue, ...]


class SheetWish(msgspec.Struct, frozen=True):
    """A sheet to be made or changed.

    Attributes:
        name: Its name.
        assignments: `path=value` texts.
        preview: Change nothing; count the queued URIs that would be affected.
    """

    name: ShortText
    assignments: Texts
    preview: bool = False


class AssociationWish(msgspec.Struct, frozen=True):
    """An association to be added, or taken off.

    Attributes:
        sheets: The sheets, the strongest last; to be taken off: one.
        surts: URLs or SURT prefixes; to be taken off: "all" where empty.
        rule: A rule as `crawl.yaml` has it, in place of prefixes; null for none.
        order: Its order among rules.
        preview: Change nothing; count the queued URIs that would be affected.
    """

    sheets: ShortTexts
    surts: LineTexts = ()
    rule: dict[str, Any] | None = None
    order: Order = 0
    preview: bool = False


class PreviewQuery(msgspec.Struct, frozen=True):
    """Whether a change is only looked at.

    Attributes:
        preview: 1: change nothing; count the queued URIs that would be affected.
    """

    preview: Flag = 0


async def list_sheets(call: Call) -> SheetAnswer:
    """The sheets of a job, and where they apply."""
    found = await ask(call, "list-sheets", call.job())
    made = {
        "items": found["sheets"], "associations": found["associations"],
        "places": found["places"], "keys": found["keys"], "next": None,
        "as_of": iso(call.services.clock.now()),
    }  # fmt: skip
    return msgspec.convert(made, SheetAnswer)


async def get_sheet(call: Call) -> SheetDetails:
    """A sheet, and where it applies."""
    name = str(call.request.path_params["sheet"])
    found = await list_sheets(call)
    one = next((sheet for sheet in found.items if sheet.name == name), None)
    if one is None:
        raise not_found(f"sheet {name} of this job")
    named = tuple(association for association in found.associations if name in association.sheets)
    return SheetDetails(one.name, one.shipped, one.values, named)


async def list_associations(call: Call) -> AssociationList:
    """All associations of sheets with URIs."""
    found = await list_sheets(call)
    return AssociationList(found.associations, None, found.as_of)


async def sheets_at(call: Call) -> SheetsAtUrl:
    """The sheets that apply to a URL, and their values there."""
    query: SheetsAtQuery = call.query
    found = await ask(call, "sheets-at", call.job(), url=query.u)
    return msgspec.convert(found, SheetsAtUrl)


async def put_sheet(call: Call) -> ChangedSettings:
    """Make a sheet, or add settings to it."""
    wish: SheetWish = call.body
    lines = [f"sheets.{wish.name}.{text}" for text in wish.assignments]
    request = ChangeRequest(assignments=lines, preview=wish.preview)
    return await change(call, call.job(), request)


async def remove_sheet(call: Call) -> ChangedSettings:
    """Take a sheet away; no URIs may be associated with it."""
    query: PreviewQuery = call.query
    name = str(call.request.path_params["sheet"])
    return await change(call, call.job(), ChangeRequest(remove=name, preview=bool(query.preview)))


async def associate(call: Call) -> ChangedSettings:
    """Apply sheets to URIs with some prefixes, or to those that a rule accepts."""
    wish: AssociationWish = call.body
    said: dict[str, Any] = {"sheets": list(wish.sheets)}
    said |= {"surts": list(wish.surts)} if wish.surts else {}
    said |= {"rule": wish.rule} if wish.rule is not None else {}
    said |= {"order": wish.order} if wish.order else {}
    return await change(call, call.job(), ChangeRequest(associate=said, preview=wish.preview))


async def dissociate(call: Call) -> ChangedSettings:
    """Take a sheet off all URIs, or off some prefixes."""
    wish: AssociationWish = call.body
    name = wish.sheets[0] if wish.sheets else ""
    request = ChangeRequest(dissociate=name, surts=list(wish.surts), preview=wish.preview)
    return await change(call, call.job(), request)
