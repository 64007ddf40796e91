"""An operation is declared once: each face makes its part from the declaration."""

import inspect
import json
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
import pytest
from starlette.datastructures import FormData

from nacre.cli.operations import OperationCommand
from nacre.console.actions import REQUESTS
from nacre.console.openapi import describe
from nacre.console.route_row import API, RouteRow
from nacre.console.routes import ROUTES
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.allowed_actions import ACTION_COMMANDS, POSSIBLE
from nacre.ops.fields import ShortText, Typed, Whole
from nacre.ops.lifecycle import LIFECYCLE, PARALLEL
from nacre.ops.operation import RUNNING, Operation, OperationContext, Role, command_line
from nacre.web.decoding import form_request


class DummyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a dummy.

    Attributes:
        word: A word of the dummy.
        depth: How deep it goes; 0: not at all.
        quick: Whether it is quick.
    """

    word: Annotated[ShortText, Typed("WORD", is_argument=True)]
    depth: Annotated[Whole, Typed("N")] = 0
    quick: bool = False


class DummyResult(msgspec.Struct, frozen=True):
    """What the dummy received."""

    text: str


def _run(context: OperationContext, request: DummyRequest) -> DummyResult:
    return DummyResult(f"{context.layout.root.name} {msgspec.to_builtins(request)}")


DUMMY = Operation(
    "dummy", "Do nothing.", DummyRequest, DummyResult, _run, frozenset((RUNNING,))
)  # fmt: skip


def test_a_field_is_an_option_of_the_command(capsys: pytest.CaptureFixture[str]):
    command = OperationCommand(DUMMY, lambda result, request, job: f"{request.depth} {result.text}")
    found = {
        name: get_args(parameter.annotation)[-1]
        for name, parameter in inspect.signature(command).parameters.items()
    }
    assert [*found] == ["job", "word", "depth", "quick", "as_json"]
    assert found["depth"].help == "How deep it goes; 0: not at all."
    assert (found["depth"].default, found["depth"].min) == ("--depth", 0)
    assert (found["word"].metavar, found["quick"].default) == ("WORD", "--quick")
    command(Path("图书馆"), as_json=False, word="b", depth=3, quick=True)
    command(Path("图书馆"), as_json=True, word="b", depth=3, quick=True)
    text, plain = capsys.readouterr().out.split("\n", 1)
    assert text == "3 图书馆 {'word': 'b', 'depth': 3, 'quick': True}"
    assert json.loads(plain)["ok"] is True


def test_a_terminal_has_no_bounds_of_texts(capsys: pytest.CaptureFixture[str]):
    command = OperationCommand(DUMMY, lambda result, request, job: str(len(request.word)))
    command(Path("job"), as_json=False, word="a|\n" * 9_000, depth=0, quick=False)
    assert capsys.readouterr().out == "27000\n"


def test_a_field_is_in_the_schema_of_the_rest_api():
    async def handler(_: object) -> Any:
        raise AssertionError("it is only described")

    row: RouteRow[object] = RouteRow(
        "POST", f"{API}/dummy", DUMMY.role, handler, DUMMY.summary, body=DUMMY.request,
        answer=DUMMY.result,
    )  # fmt: skip
    fields = describe([row])["components"]["schemas"]["DummyRequest"]["properties"]
    assert fields["depth"]["description"] == "How deep it goes; 0: not at all."
    assert (fields["depth"]["minimum"], fields["word"]["maxLength"]) == (0, 250)


def test_a_field_is_a_field_of_forms():
    form = FormData([("word", "字"), ("depth", "2"), ("quick", "1"), ("other", "x")])
    assert form_request(form, DummyRequest) == DummyRequest("字", 2, quick=True)


def test_the_command_of_an_operation():
    assert command_line(DUMMY) == "nacre dummy {job} WORD"
    assert {name: ACTION_COMMANDS[name] for name in ("pause", "parallel")} == {
        "pause": "nacre pause {job}", "parallel": "nacre parallel {job} N",
    }  # fmt: skip


@pytest.mark.parametrize("operation", LIFECYCLE, ids=lambda one: one.name)
def test_every_operation_is_offered_by_the_console(operation: Operation[Any, Any]):
    verb = "PUT" if operation is PARALLEL else "POST"
    path = f"{API}/jobs/{{job}}/{operation.name}"
    (row,) = (row for row in ROUTES if (row.verb, row.path) == (verb, path))
    assert (row.body, row.role) == (operation.request, operation.role)
    assert row.role >= Role.OPERATOR
    assert POSSIBLE[operation.name] == operation.states
    assert operation is PARALLEL or REQUESTS[operation.name] is operation.request


def test_an_operation_runs_with_the_job_and_the_request(tmp_path: Path):
    context = OperationContext(Layout(tmp_path / "job"), SystemClock())
    assert DUMMY.run(context, DummyRequest("a")).text.startswith("job ")
