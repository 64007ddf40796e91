"""`nacre collection …`: named sets of jobs and files, with a title and Dublin Core fields."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson
from nacre.cli.program import CommandGroup, Program

if TYPE_CHECKING:
    from nacre.ops.collections import CollectionDetails

_LIST = "list"


class CollectionGroup(CommandGroup):
    """The command with the name of a collection; without a further command, `--json` may end it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as its base says
        """Parse arguments; `nacre collection list --json` and `… --json list` mean the same."""
        return super().parse_args(ctx, ["--json", args[0]] if args[1:] == ["--json"] else args)


collection = Program(cls=CollectionGroup, invoke_without_command=True)

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="JOB|FILE...", show_default=False,
        help="Directories of jobs, WARC and WACZ files, directories of such files.",
    ),
]  # fmt: skip


def _field(name: str, text: str) -> typer.models.OptionInfo:
    """The option of a Dublin Core field."""
    option: typer.models.OptionInfo = typer.Option(
        f"--{name}", metavar="TEXT", help=text, show_default=False
    )
    return option


@collection.callback()
def _collection(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", show_default=False, help="Name of the collection; `list` lists all."
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--collections", metavar="DIR", show_default=False,
            help="Folder of the collections; default: $NACRE_COLLECTIONS, else nacre/collections "
            "in $XDG_DATA_HOME.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Named sets of jobs and files, for all commands that take a collection.

    A collection is created by the first `add` or `describe`. Its name can be given to replay,
    captures, compare, cite and pack in place of a job.
    """
    if ctx.invoked_subcommand is not None:
        return
    if name == _LIST:
        _say_list(folder, as_json=as_json)
        return
    from nacre.ops.collections import show_collection

    _say(show_collection(name, folder), as_json=as_json)


def _say_list(folder: Path | None, *, as_json: bool) -> None:
    from nacre.core.message_data import to_plain
    from nacre.ops.collections import list_collections

    items = list_collections(folder)
    if as_json:
        output.say_json(to_plain(items))
        return
    rows: list[tuple[object, ...]] = [("name", "members", "missing", "title")]
    rows += [(item.name, item.members, item.missing, item.damage or item.title) for item in items]
    output.say(output.table(rows, indent="") if items else "no collections")


@collection.command("show")
def show(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Print the fields and members of a collection."""
    from nacre.ops.collections import show_collection

    _say(show_collection(*_target(ctx)), as_json=as_json)


@collection.command("add")
def add(ctx: typer.Context, paths: Paths, as_json: AsJson = False) -> None:
    """Add jobs and files; a new collection is created."""
    from nacre.ops.collections import add_members

    name, folder = _target(ctx)
    _say(add_members(name, paths, folder), as_json=as_json)


@collection.command("remove")
def remove(ctx: typer.Context, paths: Paths, as_json: AsJson = False) -> None:
    """Remove jobs and files from the collection, by their paths or names; they stay as they are."""
    from nacre.ops.collections import remove_members

    name, folder = _target(ctx)
    _say(remove_members(name, paths, folder), as_json=as_json)


@collection.command("describe")
def describe(
    ctx: typer.Context,
    *,
    title: Annotated[str | None, _field("title", "Title.")] = None,
    description: Annotated[str | None, _field("description", "Description.")] = None,
    creator: Annotated[str | None, _field("creator", "Person or body that made it.")] = None,
    subject: Annotated[str | None, _field("subject", "Topics.")] = None,
    publisher: Annotated[str | None, _field("publisher", "Publisher.")] = None,
    contributor: Annotated[str | None, _field("contributor", "Contributors.")] = None,
    date: Annotated[str | None, _field("date", "Date or period.")] = None,
    kind: Annotated[str | None, _field("type", "Type, such as Collection.")] = None,
    form: Annotated[str | None, _field("format", "Format, such as application/warc.")] = None,
    identifier: Annotated[str | None, _field("identifier", "Identifier, such as a DOI.")] = None,
    source: Annotated[str | None, _field("source", "Source that it is derived from.")] = None,
    language: Annotated[str | None, _field("language", "Language, such as zh.")] = None,
    relation: Annotated[str | None, _field("relation", "Related resource.")] = None,
    coverage: Annotated[str | None, _field("coverage", "Place or time that it is about.")] = None,
    rights: Annotated[str | None, _field("rights", "Rights.")] = None,
    as_json: AsJson = False,
) -> None:
    """Set Dublin Core fields; an empty text removes a field. A new collection is created."""
    from nacre.ops.collections import describe_collection

    fields = {
        "title": title, "description": description, "creator": creator, "subject": subject,
        "publisher": publisher, "contributor": contributor, "date": date, "type": kind,
        "format": form, "identifier": identifier, "source": source, "language": language,
        "relation": relation, "coverage": coverage, "rights": rights,
    }  # fmt: skip
    name, folder = _target(ctx)
    changed = {field: value for field, value in fields.items() if value is not None}
    _say(describe_collection(name, changed, folder), as_json=as_json)


@collection.command("delete")
def delete(ctx: typer.Context) -> None:
    """Delete the collection; its jobs and files stay as they are."""
    from nacre.ops.collections import delete_collection

    name, folder = _target(ctx)
    delete_collection(name, folder)
    output.say(f"deleted the collection {output.safe(name)}; its members stay as they are")


def _target(ctx: typer.Context) -> tuple[str, Path | None]:
    """The name and the folder behind the name of the group."""
    group = ctx.parent
    if group is None:
        raise RuntimeError(f"{ctx.command_path} belongs to no group")
    folder = group.params["folder"]
    return str(group.params["name"]), None if folder is None else Path(folder)


def _say(details: "CollectionDetails", *, as_json: bool) -> None:
    from nacre.core.message_data import to_plain
    from nacre.report.formatting import size

    if as_json:
        output.say_json(to_plain(details))
        return
    fields = {**details.fields, "title": details.title}
    output.say(output.pairs({"name": details.name, **fields}, indent=""))
    rows = [
        (member.kind, output.count(member.warcs, "WARC"), size(member.size), member.path)
        for member in details.members
    ]
    output.say(output.table(rows) if rows else "  no members")
    gone = sum(member.kind == "missing" for member in details.members)
    if gone:
        output.tell(
            f"nacre: {output.count(gone, 'member')} not at the path above: add it again where it "
            "is now, and remove the old path"
        )
