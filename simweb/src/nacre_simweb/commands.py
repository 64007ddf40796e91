"""`nacre simweb`: benchmark runs, the worlds on a port, the goals, and the paper's experiment."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nacre.cli import output
from nacre.cli.options import AsJson
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre_simweb.experiment import ExperimentPlan, Trial
    from nacre_simweb.goals import GoalResult
    from nacre_simweb.sweep import Sweep
    from nacre_simweb.world import World

HintsName = Literal["none", "honest", "partial", "lying"]
ModeName = Literal["decision", "crawler", "http"]

simweb = Program(help="The simulated web: a benchmark of crawlers.", add_completion=False)

WorldName = Annotated[
    str, typer.Option("--world", metavar="NAME", help="A world; `nacre simweb worlds` lists them.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the world.")]
Hints = Annotated[
    HintsName,
    typer.Option(
        "--hints", metavar="none|honest|partial|lying",
        help="Sitemaps, feeds, dates in lists and validators: none, true, half true, or false.",
    ),
]  # fmt: skip
Scale = Annotated[
    float,
    typer.Option(
        "--bytes-scale", min=1e-6, max=1.0,
        help="Embeds are shrunk by this; the metrics multiply back.",
    ),
]  # fmt: skip


@simweb.command()
def worlds() -> None:
    """List the worlds."""
    from nacre_simweb.archetypes import ARCHETYPES

    for name, make in ARCHETYPES.items():
        shape = make().shape
        description = (make.__doc__ or "").strip().splitlines()[0]
        output.say(
            f"{name:11} {shape.pages:6,} pages, {output.count(shape.hosts, 'host')}: {description}"
        )


@simweb.command()
def run(
    *,
    world: WorldName = "gov-twin",
    days: Annotated[float, typer.Option("--days", min=1, help="Length, days.")] = 90.0,
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="Time between steps: 1h, 1d, 7d.")
    ] = "7d",
    seed: Seed = 7,
    policy: Annotated[
        str, typer.Option("--policy", metavar="A,B,...", help="Policies to compare, or `all`.")
    ] = "full,uniform,nutch-conf,heritrix,nlc,oracle",
    budgets: Annotated[
        str,
        typer.Option(
            "--budgets",
            metavar="N,N,...",
            help="Requests of pages in per cent of the site: a step, or a day where steps are "
            "shorter. Empty: no limit.",
        ),
    ] = "2,5,10,20,40",
    hints: Hints = "none",
    mode: Annotated[
        ModeName,
        typer.Option(
            "--mode",
            metavar="decision|crawler|http",
            help="Decisions only (fast); the real crawler in this process; or over real HTTP.",
        ),
    ] = "decision",
    bytes_scale: Scale = 0.01,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the results go.")] = Path(
        "simweb-results"
    ),
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw recall.")] = True,
    as_json: AsJson = False,
) -> None:
    """Compare policies on a world: a table, plots, and a score file that its seed determines."""
    from nacre_simweb.baselines.table import POLICIES
    from nacre_simweb.experiment import ExperimentPlan, run_trials
    from nacre_simweb.summary import label, score_file, table, text_table

    plan = ExperimentPlan(
        world, hints, seed, days, seconds("--every", every),
        tuple(POLICIES) if policy == "all" else tuple(_split(policy)),
        tuple(_numbers(budgets)), bytes_scale, mode,
    )  # fmt: skip
    if plots:
        _require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    trials = []
    for trial in run_trials(plan, out):
        trials.append(trial)
        output.tell(f"{label(trial)}: {trial.usage['wall_s']:.1f} s")
    scores, text = score_file(plan, trials), text_table(table(trials))
    (out / "score.json").write_bytes(scores)
    (out / "table.txt").write_text(text, "utf-8")
    _write_usage(trials, out)
    if plots:
        _plot(plan, trials, out)
    output.say(scores.decode().rstrip() if as_json else text.rstrip())


def _write_usage(trials: "list[Trial]", out: Path) -> None:
    """What the run took on this machine: apart, because it is never the same twice."""
    from nacre_simweb.score import score_bytes
    from nacre_simweb.summary import label

    (out / "usage.json").write_bytes(score_bytes({label(t): t.usage for t in trials}))


def _require_matplotlib() -> None:
    """Before the runs, which may take hours, and not after them."""
    from importlib.util import find_spec

    from nacre.config.extras import wanting
    from nacre.errors import ConfigError

    if find_spec("matplotlib") is None:
        raise ConfigError(wanting("plots need", "matplotlib") + "; or use --no-plots")


def _plot(plan: "ExperimentPlan", trials: "list[Trial]", out: Path) -> None:
    from nacre_simweb.plots import write_plots

    title = f"{plan.world}, {plan.days:g} days, seed {plan.seed}, hints: {plan.hints}"
    write_plots(trials, title, out)


def seconds(option: str, text: str) -> float:
    """Return a duration of at least a minute.

    Raises:
        ConfigError: It is none.
    """
    from nacre.config.component import parse_duration
    from nacre.errors import ConfigError

    try:
        value = parse_duration(text)
    except ValueError as error:
        raise ConfigError(f"{option} {text!r}: {error}") from None
    if not isinstance(value, float) or value < 60:
        raise ConfigError(f"{option} {text!r}: at least a minute, such as 1h or 7d")
    return value


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[float]:
    from nacre.errors import ConfigError

    try:
        numbers = [float(part) for part in _split(text)]
    except ValueError:
        raise ConfigError(f"--budgets {text!r}: numbers with commas, such as 2,5,10") from None
    if any(number <= 0 for number in numbers):
        raise ConfigError(f"--budgets {text!r}: each must be more than 0")
    return numbers


@simweb.command()
def serve(
    *,
    world: WorldName = "gov-twin",
    seed: Seed = 7,
    port: Annotated[int, typer.Option("--port", help="Port; 0 for a free one.")] = 8080,
    address: Annotated[str, typer.Option("--address", help="Address to listen on.")] = "127.0.0.1",
    day: Annotated[float, typer.Option("--day", help="Day at which its clock begins.")] = 0.0,
    speed: Annotated[
        float, typer.Option("--speed", min=0, help="Seconds of the world a second; 0: time stops.")
    ] = 0.0,
    hints: Hints = "none",
    bytes_scale: Scale = 0.01,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="Where its log goes at the end.")
    ] = None,
) -> None:
    """Put a world on a port, for any crawler; Ctrl-C ends it.

    Virtual hosts by the Host header, or as an HTTP proxy; /.simweb/time?day=N sets its clock.
    """
    import asyncio
    import os
    import signal

    from nacre.errors import ConfigError
    from nacre_simweb.calendar import DAY
    from nacre_simweb.experiment import ExperimentPlan, make_world
    from nacre_simweb.serve import Hands, serving
    from nacre_simweb.servelog import write_log

    served = make_world(ExperimentPlan(world, hints, seed, bytes_scale=bytes_scale))
    hands = Hands(speed)
    hands.set(day * DAY)

    async def work() -> None:
        async with serving(served, hands, port, address) as (server, bound_port):
            ends = asyncio.Event()
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, ends.set)
            _tell(served, address, bound_port)
            try:
                await ends.wait()
            finally:
                if log is not None:
                    write_log(log, server.answers.rows)

    try:
        asyncio.run(work())
    except OSError as error:
        which = f"--log {log}" if error.filename else f"--address {address} --port {port}"
        raise ConfigError(f"{which}: {os.strerror(error.errno or 0)}") from None


def _tell(world: "World", address: str, port: int) -> None:
    output.say(f"Proxy: http://{address}:{port}")
    for start in world.starts:
        output.say(f"Start: {start}")
    output.say(f"Clock: http://{address}:{port}/.simweb/time?day=7")


@simweb.command()
def score(
    archive: Annotated[Path, typer.Argument(metavar="DIR", help="Where the WARCs are.")],
    log: Annotated[Path, typer.Option("--log", metavar="FILE", help="Log of `simweb serve`.")],
    *,
    world: WorldName = "gov-twin",
    seed: Seed = 7,
    days: Annotated[float, typer.Option("--days", min=1, help="Last step, days.")] = 90.0,
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="Time of a step.")] = "7d",
    hints: Hints = "none",
    bytes_scale: Scale = 0.01,
) -> None:
    """Score the WARCs of any crawler against the log of the world that it crawled."""
    from nacre.errors import ConfigError
    from nacre_simweb.captures import read_archive
    from nacre_simweb.driver import DriverSteps
    from nacre_simweb.experiment import ExperimentPlan, make_world
    from nacre_simweb.recall import CountedWindow
    from nacre_simweb.score import score as score_of
    from nacre_simweb.score import score_bytes
    from nacre_simweb.servelog import read_log

    plan = ExperimentPlan(
        world, hints, seed, days, seconds("--every", every), bytes_scale=bytes_scale
    )
    try:
        rows = read_log(log)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(
            f"--log {log}: {reason}; `simweb serve --log` writes it at its end"
        ) from None
    if not archive.exists():
        raise ConfigError(f"{archive}: there is no such directory of WARCs")
    captures = read_archive(archive, rows)
    for problem in captures.problems[:20]:
        output.tell(problem)
    window = CountedWindow(DriverSteps(plan.every, plan.days).times)
    output.say(score_bytes(score_of(make_world(plan), captures, window)).decode().rstrip())


Parts = Annotated[
    Path | None,
    typer.Option(
        "--parts",
        metavar="DIR",
        help="Where finished runs are kept: an interrupted measurement goes on from there, as "
        "long as the code is the same.",
    ),
]


@simweb.command()
def goals(
    *,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="N,A-B,...", help="Seeds of the worlds.")
    ] = "11-13",
    few: Annotated[
        int,
        typer.Option(
            "--few", metavar="N", min=0, help="All goals but G1 on the first N only; 0: on all."
        ),
    ] = 0,
    only: Annotated[
        str, typer.Option("--only", metavar="G1,G2,...", help="These goals; empty: all.")
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="See that it works: a tiny world, in seconds.")
    ] = False,
    scale: Annotated[
        float,
        typer.Option(
            "--scale", metavar="N", min=0.001, max=1, help="Share of the pages: for rehearsals."
        ),
    ] = 1.0,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Processes.")] = 1,
    parts: Parts = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the figures go, as JSON.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the goals of incremental crawling: target, result and interval of each."""
    from nacre_simweb.goalrows import all_goals, quick_goals
    from nacre_simweb.goals import shrunk
    from nacre_simweb.goaltable import figure_of, markdown, written
    from nacre_simweb.sweep import Sweep

    goal_names = set(_split(only))
    chosen = [
        goal if scale == 1.0 else shrunk(goal, scale)
        for goal in (quick_goals() if quick else all_goals())
        if not goal_names or goal.name in goal_names
    ]
    sweep = Sweep(chosen, _seed_list(seeds), few, jobs)
    results = _measured(sweep, parts)
    figures = written(results, sweep.seeds, few)
    if out is not None:
        out.write_bytes(figures)
    table = markdown([figure_of(goal_result) for goal_result in results])
    output.say(figures.decode().rstrip() if as_json else table.rstrip())


def _measured(sweep: "Sweep", parts: Path | None) -> "list[GoalResult]":
    """Return the results; says meanwhile how far it is."""
    from nacre_simweb.goals import GoalResult
    from nacre_simweb.sweep import measured, parts_of

    parts_left = len(parts_of(sweep, Path()))
    results = []
    for progress in measured(sweep, parts):
        if isinstance(progress, GoalResult):
            results.append(progress)
            continue
        parts_left -= 1
        where = progress.part.place
        output.tell(
            f"{where.world}, hints: {where.hints}, seed {progress.part.seed}; {parts_left} left"
        )
    return results


def _seed_list(text: str) -> list[int]:
    """Numbers and ranges, in their order, each once."""
    from nacre.errors import ConfigError

    seeds: dict[int, None] = {}
    for part in _split(text):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            raise ConfigError(f"--seeds {text!r}: numbers and ranges, such as 11,12 or 11-30")
        seeds.update(dict.fromkeys(range(int(first), int(last or first) + 1)))
    return list(seeds)


@simweb.command()
def paper(
    *,
    world: Annotated[
        str,
        typer.Option("--world", metavar="NAME", help="A world; mct-twin and gov-twin: its sites."),
    ] = "mct-twin",
    seed: Seed = 7,
    after: Annotated[
        str, typer.Option("--after", metavar="TIME", help="Time between the two visits.")
    ] = "91d",
    hints: Hints = "none",
    keep: Annotated[
        Literal["strict", "lean", "delta"],
        typer.Option("--keep", metavar="strict|lean|delta", help="What `recrawl` stores."),
    ] = "strict",
    bytes_scale: Scale = 0.01,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where jobs and results go.")
    ] = Path("paper-results"),
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """The experiment of the National Library of China's paper, with the truth for comparison.

    A full crawl, time passes, `nacre recrawl`, and a second full crawl: the real crawler over HTTP.
    """
    from nacre.report.plain import plain_text
    from nacre_simweb.calendar import DAY
    from nacre_simweb.experiment import ExperimentPlan
    from nacre_simweb.paper.document import document
    from nacre_simweb.paper.experiment import compare
    from nacre_simweb.paper.results import as_json as json_of
    from nacre_simweb.paper.results import write_results

    days = seconds("--after", after) / DAY
    plan = ExperimentPlan(world, hints, seed, days, days * DAY, ("nacre",), (), bytes_scale, "http")
    comparison = compare(plan, keep, out)
    write_results(comparison, out)
    _make_readable(out)
    text = (
        json_of(comparison).decode()
        if as_json
        else plain_text(document(comparison, output.format_path(out)))
    )
    output.say(text.rstrip())
    output.tell(f"Written to {output.format_path(out)}")


_SETTINGS = """\
# A job of `nacre simweb paper`, to be read by `nacre report`, `history` and `archive`.
# It has no seeds: its world exists no more.
{}
"""


def _make_readable(out: Path) -> None:
    """Let the other commands take the jobs, which ran from a program and have no `crawl.yaml`."""
    for runs in out.glob("*/runs"):
        runs.with_name("crawl.yaml").write_text(_SETTINGS, "utf-8")
