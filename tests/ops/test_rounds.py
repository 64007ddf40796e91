"""The options of rounds: each is declared once, and found in every face."""

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
import pytest
import typer
import typer.main
from starlette.datastructures import FormData

from nacre.cli.cycle.commands import RoundsCommand
from nacre.cli.cycle.program import CycleProgram
from nacre.cli.cycle.step_commands import StepCommand, StepView
from nacre.cli.operations import request_parameters
from nacre.console.actions import REQUESTS
from nacre.console.forms import FormField, request_fields
from nacre.console.openapi import describe
from nacre.console.route_row import API, RouteRow
from nacre.errors import ConfigError
from nacre.machine.layout import Layout
from nacre.ops.fields import ShortText, Typed, Whole
from nacre.ops.operation import Operation, option_line, option_words
from nacre.ops.round_readers import ReadDbRequest
from nacre.ops.round_requests import (
    MOST_ROUNDS,
    GenerateRequest,
    LocalOptions,
    LocalRoundsOptions,
    RoundsRequest,
    StepRequest,
    duration_of,
    require_remote,
    setup_of,
)
from nacre.ops.round_steps import RequestedSteps
from nacre.ops.round_tables import LINKS, LinksRequest
from nacre.ops.rounds import ROUNDS
from nacre.rounds.journal import StopSignal
from nacre.rounds.runner import SILENT
from nacre.web.decoding import form_request
from tools.reference import command_section


class DummyRounds(RoundsRequest, frozen=True):
    """The options of rounds, and a dummy.

    Attributes:
        dummy_depth: How deep the dummy goes; 0: not at all.
        dummy_word: A word of the dummy.
    """

    dummy_depth: Annotated[Whole, Typed("N", panel="Rounds")] = 0
    dummy_word: Annotated[ShortText, Typed("WORD", label="Word of the dummy")] = ""


DUMMY = Operation(
    ROUNDS.name, ROUNDS.summary, DummyRounds, ROUNDS.result, ROUNDS.run, ROUNDS.states
)


def test_a_new_option_is_in_the_help_and_in_the_reference():
    app = typer.Typer()
    app.callback(invoke_without_command=True)(RoundsCommand(DUMMY))
    app.command("step")(lambda: None)
    reference = "\n".join(command_section("nacre cycle", typer.main.get_command(app)))
    assert "| `--dummy-depth` N | How deep the dummy goes; 0: not at all. |" in reference
    assert "| `--dummy-word` WORD | A word of the dummy. |" in reference
    options = inspect.signature(RoundsCommand(DUMMY)).parameters
    shown = get_args(options["dummy_depth"].annotation)[-1]
    assert (shown.help, shown.rich_help_panel) == (
        "How deep the dummy goes; 0: not at all.", "Rounds",
    )  # fmt: skip


def test_a_new_option_is_in_the_schema_of_the_rest_api():
    async def handler(_: object) -> Any:
        raise AssertionError("it is only described")

    row: RouteRow[object] = RouteRow(
        "POST", f"{API}/dummy", DUMMY.role, handler, "Do it.", body=DUMMY.request
    )
    fields = describe([row])["components"]["schemas"]["DummyRounds"]["properties"]
    assert fields["dummy_depth"]["description"] == "How deep the dummy goes; 0: not at all."
    assert fields["dummy_depth"]["minimum"] == 0
    assert fields["until_due"]["description"].startswith("Wait up to this long")


def test_a_new_option_is_in_the_form_and_in_the_command_of_the_console():
    fields = {field.name: field for field in request_fields(DummyRounds, str.upper)}
    assert fields["dummy_depth"][:5] == ("dummy_depth", "DUMMY DEPTH", "number", "0", 0)
    assert fields["dummy_word"] == FormField(
        "dummy_word", "WORD OF THE DUMMY", "text", title="A word of the dummy."
    )
    sent = form_request(FormData([("dummy_depth", "2"), ("dummy_word", "字")]), DummyRounds)
    assert option_words(sent) == ["--dummy-depth=2", "--dummy-word=字"]
    assert option_line(DummyRounds).endswith("--dummy-depth N --dummy-word WORD")


def test_a_new_option_reaches_the_steps(tmp_path: Path):
    class DummySteps(RequestedSteps):
        """Uses the dummy."""

        def now(self) -> int:
            """Return the depth of the dummy."""
            assert isinstance(self.request, DummyRounds)
            return self.request.dummy_depth

    layout, request = Layout(tmp_path), DummyRounds(dummy_depth=7)
    steps = DummySteps(layout, request, LocalRoundsOptions(), StopSignal(layout), SILENT)
    assert steps.now() == 7


def test_every_option_of_rounds_has_a_label_and_a_kind_of_input():
    fields = request_fields(RoundsRequest, str)
    assert all(field.label != field.name.replace("_", " ").capitalize() for field in fields)
    kinds = {field.name: field.kind for field in fields}
    assert (kinds["set"], kinds["dedup"], kinds["top"], kinds["index"], kinds["until_due"]) == (
        "lines", "choice", "number", "choice", "text",
    )  # fmt: skip
    choices = next(field.choices for field in fields if field.name == "index")
    assert choices == (("", "as the settings say"), ("yes", "yes"), ("no", "no"))
    plain = next(field for field in request_fields(LocalOptions, str) if field.name == "dry_run")
    assert plain.choices == (("no", "no"), ("yes", "yes"))


def test_a_new_option_of_a_step_is_in_the_help_of_its_command():
    class DummyLinks(LinksRequest, frozen=True):
        """The options of a step for links, and a dummy.

        Attributes:
            dummy_depth: How deep the dummy goes.
        """

        dummy_depth: Annotated[Whole, Typed("N")] = 3

    operation = replace(LINKS, request=DummyLinks, run=lambda context, _: context.layout.root)
    printed = StepView(lambda result, call: f"{result} {call.request.rebuild} {call.is_dry}")
    app = CycleProgram()
    app.callback()(lambda directory: None)
    app.command("links")(StepCommand(operation, printed))
    reference = "\n".join(command_section("nacre cycle", typer.main.get_command(app)))
    assert "| `--dummy-depth` N | How deep the dummy goes. |" in reference
    assert reference.index("--dummy-depth") < reference.index("--engine") < reference.index("--at")


@pytest.mark.parametrize(
    ("request_", "option", "limits"),
    [
        (ReadDbRequest, "least", (None, None)),
        (ReadDbRequest, "retry", (None, None)),
        (ReadDbRequest, "sample", (0, 1)),
        (ReadDbRequest, "top", (0, None)),
        (GenerateRequest, "add_days", (None, None)),
    ],
)
def test_the_help_has_no_limits_that_only_keep_numbers_exact(
    request_: type[msgspec.Struct], option: str, limits: tuple[int | None, int | None]
):
    (parameter,) = request_parameters(request_, (option,))
    shown = get_args(parameter.annotation)[-1]
    assert (shown.min, shown.max) == limits


def test_rest_has_the_options_of_rounds_but_not_those_of_a_user_of_this_machine():
    assert REQUESTS["run-rounds"] is RoundsRequest
    names = {field.name for field in msgspec.structs.fields(RoundsRequest)}
    local = {field.name for field in msgspec.structs.fields(LocalRoundsOptions)}
    assert local == {"master", "at", "dry_run", "seeds"}
    assert not local & names


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (RoundsRequest(), []),
        (RoundsRequest(rounds=0, top=0, index=False), ["--top=0", "--rounds=0", "--no-index"]),
        (
            RoundsRequest(dedup="host", engine="spark", units=2, index=True, time_limit="2h"),
            ["--engine=spark", "--time-limit=2h", "--units=2", "--dedup=host", "--index"],
        ),
        (
            RoundsRequest(sitemaps=("https://例子.test/地图.xml",), until_due="1h", set=("a=-b",)),
            ["--set=a=-b", "--until-due=1h", "--sitemaps=https://例子.test/地图.xml"],
        ),
    ],
)
def test_the_options_of_a_request_as_words(request_: RoundsRequest, words: list[str]):
    assert option_words(request_) == words
    require_remote(request_)


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (RoundsRequest(rounds=MOST_ROUNDS + 1), "10000"),
        (RoundsRequest(sitemaps=("/etc/passwd",)), "sitemaps"),
        (RoundsRequest(time_limit="soon"), "time-limit"),
        (RoundsRequest(until_due="never"), "until-due"),
    ],
)
def test_a_requester_of_another_machine_is_refused(request_: RoundsRequest, text: str):
    with pytest.raises(ConfigError, match=text):
        require_remote(request_)


def test_durations_and_the_clock():
    assert (duration_of("until_due", ""), duration_of("until_due", "90m")) == (None, 5400.0)
    assert setup_of(StepRequest(), LocalOptions()).clock == 0
    setup = setup_of(StepRequest(tasks=3, set=("a=b",)), LocalOptions(at="20010101000000"))
    assert (setup.tasks, setup.assignments, setup.clock) == (3, ("a=b",), 978_307_200_000)
    with pytest.raises(ConfigError, match="明天"):
        setup_of(StepRequest(), LocalOptions(at="明天"))
