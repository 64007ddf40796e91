"""The table of goals G1 to G12, and how it is written. Source: reference/incremental.md 3.5."""

from collections.abc import Sequence

from nacre.simweb.goals import Goal, Result, Spec, figure, lead, ratio
from nacre.simweb.score import score_bytes
from nacre.simweb.state import decisions_a_second

_HEADLINE = Spec("gov-twin", "nacre-400d", "honest")
_QUARTER = Spec("gov-twin", "nacre", "honest", 91.0, 91.0)
_WEEKLY = Spec("mct-twin", "nacre-nohints")
_LEARNED = _WEEKLY._replace(days=84.0, warm=42.0, free=42.0)
"""After six weeks without a budget, as an archive has them that crawled the site in full before."""
_DAILY = Spec("mct-twin", "nacre-nohints", days=60.0, every=1.0, warm=20.0)
_LYING = Spec("mct-twin", "nacre", "lying", days=60.0, every=1.0, budget=10.0, warm=14.0)
_NOISY = Spec("shop", "nacre-nohints", days=21.0, every=1.0, budget=40.0, warm=5.0)
_DYING = Spec("dying", "nacre-nohints", days=42.0)


def _daily(policy: str, budget: float) -> Spec:
    return _DAILY._replace(policy=policy, budget=budget)


def _ahead_of_oracle(budget: float) -> list[Goal]:
    what = f"mct-twin weekly, no hints, {budget:g} %"
    return [
        Goal("G1'", f"{what}, {begun}: ECR less the rate oracle's, points", -2.0, "least",
             lead("epoch", "recall", one, one._replace(policy="oracle")))
        for begun, spec in (("six weeks known", _LEARNED), ("cold start", _WEEKLY))
        for one in (spec._replace(budget=budget),)
    ]  # fmt: skip


def _ahead_of_paper() -> list[Goal]:
    """With nothing but the lists, from a cold start, and where the site tells what changed."""
    starts = (
        ("no hints, six weeks known", _LEARNED),
        ("no hints, cold start", _WEEKLY),
        ("honest hints, cold start", _WEEKLY._replace(policy="nacre", hints="honest")),
    )
    return [
        Goal("G2", f"mct-twin weekly, {what}, what NLC spent: ECR less NLC's, points", 10.0,
             "least",
             lead("epoch", "recall", spec._replace(spend="nlc"), spec._replace(policy="nlc")))
        for what, spec in starts
    ]  # fmt: skip


def _quarter(world: str, what: str, target: float, measure: tuple[str, str]) -> Goal:
    spec = _QUARTER._replace(world=world)
    return Goal("G1q", f"{world} after a quarter, honest hints: {what}", target, "least",
                figure(*measure, spec))  # fmt: skip


def _quarters() -> list[Goal]:
    paper = {"gov-twin": (0.867, 0.938), "mct-twin": (0.84, 0.916)}
    found = []
    for world, (time, storage) in paper.items():
        found += [
            _quarter(world, "relative saving", 0.97, ("saving", "relative_saving")),
            _quarter(world, "requests saved", time, ("saving", "saved_requests")),
            _quarter(world, "storage saved", storage, ("saving", "saved_storage")),
            _quarter(world, "ECR", 0.99, ("epoch", "recall")),
            _quarter(world, "NPR", 0.998, ("new_pages", "recall")),
            _quarter(world, "DR", 0.98, ("deletions", "recall")),
        ]
    return found


def _headline() -> list[Goal]:
    where = "gov-twin weekly, honest hints"
    default = _HEADLINE._replace(policy="nacre")
    saved = ("saving", "saved_requests")
    return [
        Goal("G1", f"{where}: requests saved", 0.95, "least", figure(*saved, _HEADLINE)),
        Goal("G1", f"{where}: ECR", 0.995, "least", figure("epoch", "recall", _HEADLINE)),
        Goal("G1", f"{where}: NPR", 0.998, "least", figure("new_pages", "recall", _HEADLINE)),
        Goal("G1", f"{where}: DR", 0.98, "least", figure("deletions", "recall", _HEADLINE)),
        Goal("G1", f"{where}: saved with the default floor", 0.95, "least",
             figure(*saved, default)),
    ]  # fmt: skip


def _against_others() -> list[Goal]:
    versions = ("versions", "recall")
    partial = _daily("nacre", 10.0)._replace(hints="partial")
    return [
        *_ahead_of_paper(),
        *(
            Goal("G4", f"mct-twin daily, {budget:g} %: VR over the oracle's", target, "least",
                 ratio(*versions, _daily("nacre-nohints", budget), _daily("oracle", budget)))
            for budget, target in ((5.0, 0.88), (10.0, 0.97))
        ),
        *(
            Goal("G5", f"mct-twin daily, {budget:g} %: VR over Heritrix's", target, "least",
                 ratio(*versions, _daily("nacre-nohints", budget), _daily("heritrix", budget)))
            for budget, target in ((5.0, 3.0), (14.0, 1.35))
        ),
        Goal("G5", "mct-twin daily, 5 %: delay of discovery over Heritrix's", 0.25, "most",
             ratio("new_pages", "delay_median_h", _daily("nacre-nohints", 5.0),
                   _daily("heritrix", 5.0))),
        Goal("G6", "mct-twin daily, hints .8/.8, 10 %: VR less the oracle's without, points",
             0.0, "least", lead(*versions, partial, _daily("oracle", 10.0))),
        Goal("G7", "mct-twin daily, lying hints, 10 %: VR less that without hints, points",
             -2.0, "least",
             lead(*versions, _LYING, _LYING._replace(policy="nacre-nohints"))),
    ]  # fmt: skip


def _judgement() -> list[Goal]:
    return [
        Goal("G8", "shop daily: real changes judged unchanged", 0.001, "most",
             figure("verdicts", "false_unchanged", _NOISY)),
        Goal("G8", "shop daily: noise judged a change", 0.01, "most",
             figure("verdicts", "false_changed", _NOISY)),
        Goal("G9", "dying weekly: soft 404s found", 0.97, "least",
             figure("verdicts", "soft_recall", _DYING)),
        Goal("G9", "dying weekly: soft 404s that are", 0.99, "least",
             figure("verdicts", "soft_precision", _DYING)),
        Goal("G10", "mct-twin daily, 14 %: Brier skill of forecasts", 0.3, "least",
             figure("model", "brier_skill", _daily("nacre-nohints", 14.0))),
        Goal("G11", "shop daily: bytes of a hot row beside its URL", 250.0, "most",
             figure("state", "row_bytes", _NOISY)),
        Goal("G11", "scheduling decisions in a second on one core", 20_000.0, "least",
             lambda _: decisions_a_second()),
        *(
            Goal("G12", f"{world}: links whose template got the right rule", 0.98, "least",
                 figure("state", "rules", Spec(world, "nacre", "honest", 42.0)))
            for world in ("culture", "mct-twin", "wiki", "forum")
        ),
        *(
            Goal("G12", f"{world}: F1 of index pages", 0.97, "least",
                 figure("state", "index_f1", Spec(world, "nacre", "honest", 42.0)))
            for world in ("culture", "mct-twin", "wiki", "forum")
        ),
    ]  # fmt: skip


def all_goals() -> list[Goal]:
    """Every goal that the simulated web measures, dearest last."""
    weekly = [goal for budget in (5.0, 20.0, 40.0) for goal in _ahead_of_oracle(budget)]
    return [*_judgement(), *weekly, *_against_others(), *_headline(), *_quarters()]


def quick_goals() -> list[Goal]:
    """A few, in a world of sixty pages: that the harness works, and nothing about Nacre."""
    small = Spec("small", "nacre", "honest", 14.0)
    plain = small._replace(policy="nacre-nohints", hints="none", budget=20.0)
    return [
        Goal("G1", "small: requests saved", 0.0, "least",
             figure("saving", "saved_requests", small)),
        Goal("G1", "small: ECR", 0.9, "least", figure("epoch", "recall", small)),
        Goal("G2", "small: ECR less NLC's, points", 0.0, "least",
             lead("epoch", "recall", plain._replace(budget=None, spend="nlc"),
                  plain._replace(budget=None, policy="nlc"))),
        Goal("G5", "small: VR over Heritrix's", 1.0, "least",
             ratio("versions", "recall", plain, plain._replace(policy="heritrix"))),
    ]  # fmt: skip


def markdown(results: Sequence[Result]) -> str:
    """Results as a table of a document."""
    lines = ["| goal | what | target | result | 95 % interval | |", "|---|---|---|---|---|---|"]
    for one in results:
        goal = one.goal
        cells = (
            goal.name,
            goal.what,
            f"{'≥' if goal.better == 'least' else '≤'} {goal.target:g}",
            _shown(one.mean),
            f"{_shown(one.low)} to {_shown(one.high)}",
            "reached" if one.reached else "missed",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def figures(results: Sequence[Result]) -> bytes:
    """Results as JSON: the same for the same seeds, byte for byte."""
    return score_bytes(
        [
            {
                "goal": one.goal.name,
                "what": one.goal.what,
                "target": one.goal.target,
                "better": one.goal.better,
                "values": one.values,
                "mean": one.mean,
                "interval": (one.low, one.high),
                "reached": one.reached,
            }
            for one in results
        ]
    )


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
