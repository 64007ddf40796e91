"""The goals G1 to G12; docs/simulated-goals.md describes them.

Worlds and lengths are chosen so that all of it fits into an hour of two cores. `scale` is named in
the text of a goal wherever it is not 1.
"""

from nacre_simweb.estimates import BARE
from nacre_simweb.goals import Goal, Scores, Spec, figure, lead, ratio
from nacre_simweb.state import decisions_a_second

_HEADLINE = Spec("gov-twin", "nacre-400d", "honest")
_APP = _HEADLINE._replace(world="app")
_LONG = Spec("mct-twin", "nacre-400d", "honest", days=210.0)
"""Long enough for the default floor to be met, and too short for that of 400 days."""
_QUARTER = Spec("gov-twin", "nacre", "honest", 91.0, 91.0)
_WEEKLY = Spec("mct-twin", "nacre-nohints")
_LEARNED = _WEEKLY._replace(days=84.0, warm=42.0, free=42.0)
"""After six weeks without a budget, as an archive has them that crawled the site in full before."""
_CURVE = Spec("mct-twin", "nacre-nohints", days=70.0, warm=28.0, scale=0.25)
_CURVE_AT = (30.0, 60.0, 75.0, 90.0, 100.0, 115.0, 130.0)
_DAILY = Spec("mct-twin", "nacre-nohints", days=60.0, every=1.0, warm=20.0)
_LYING = Spec("mct-twin", "nacre", "lying", days=60.0, every=1.0, budget=10.0, warm=14.0)
_STORAGE = Spec("mct-twin", "nacre-all", days=42.0)
_NOISY = Spec("shop", "nacre-nohints", days=21.0, every=1.0, budget=40.0, warm=5.0, scale=0.4)
_DYING = Spec("dying", "nacre-nohints", days=42.0)
_LINKED = Spec("culture", "nacre", "honest", 42.0)
_VERSIONS = ("versions", "recall")
_NOISES = (
    "clock", "counter", "related", "advert", "token", "buster", "order", "blanks", "ago", "variant",
    "coding", "charset",
)  # fmt: skip


def all_goals() -> list[Goal]:
    """Return every goal that the simulated web measures."""
    return [
        *_headline(), *_quarters(), *_without_hints(), *_paper(), *_storage(), *_against_others(),
        *_lies(), *_judgement(), *_endings(), *_rates(), *_cost(), *_links(),
    ]  # fmt: skip


def _least(name: str, description: str, target: float, group: str, key: str, spec: Spec) -> Goal:
    return Goal(name, description, target, "least", figure(group, key, spec))


def _most(name: str, description: str, target: float, group: str, key: str, spec: Spec) -> Goal:
    return Goal(name, description, target, "most", figure(group, key, spec))


# ---- savings


def _headline() -> list[Goal]:
    where = "gov-twin weekly, honest hints"
    saved = "requests saved"
    cost = lead("saving", "saved_requests", _LONG, _LONG._replace(policy="nacre"))
    return [
        _least("G1", f"{where}: {saved}", 0.95, "saving", "saved_requests", _HEADLINE),
        _least("G1", f"{where}: ECR", 0.995, "epoch", "recall", _HEADLINE),
        _least("G1", f"{where}: NPR", 0.998, "new_pages", "recall", _HEADLINE),
        _least("G1", f"{where}: DR", 0.98, "deletions", "recall", _HEADLINE),
        *_application(),
        Goal("G1f", "mct-twin weekly, honest hints, 30 weeks: what the default floor costs, points",
             4.0, "most", cost),
    ]  # fmt: skip


def _application() -> list[Goal]:
    """G1 where every page is a shell that a simulated browser runs, and a missing one too."""
    where = "app weekly, honest hints, pages in a browser"
    return [
        _least("G1a", f"{where}: requests saved", 0.95, "saving", "saved_requests", _APP),
        Goal("G1a", f"{where}: requests that could be saved at most", None, "least",
             figure("saving", "possible_saving", _APP)),
        _least("G1a", f"{where}: relative saving of requests", 0.97, "saving", "relative_saving",
               _APP),
        _least("G1a", f"{where}: ECR", 0.995, "epoch", "recall", _APP),
        _least("G1a", f"{where}: NPR", 0.998, "new_pages", "recall", _APP),
        _least("G1a", f"{where}: DR", 0.98, "deletions", "recall", _APP),
    ]  # fmt: skip


def _quarters() -> list[Goal]:
    paper = {"gov-twin": (0.867, 0.938), "mct-twin": (0.84, 0.916)}
    goals = []
    for world, (time, storage) in paper.items():
        spec, where = _QUARTER._replace(world=world), f"{world} after a quarter, honest hints"
        goals += [
            _least("G1q", f"{where}: relative saving of requests", 0.97, "saving",
                   "relative_saving", spec),
            _least("G1q", f"{where}: politeness time saved", time, "saving", "saved_politeness",
                   spec),
            _least("G1q", f"{where}: storage saved", storage, "saving", "saved_storage", spec),
            _most("G1q", f"{where}: stored over necessary, strict", 1.05, "lean", "new_strict",
                  spec),
            _most("G1q", f"{where}: stored over necessary, lean", 1.05, "lean", "new_lean", spec),
            _least("G1q", f"{where}: ECR", 0.99, "epoch", "recall", spec),
            _least("G1q", f"{where}: NPR", 0.998, "new_pages", "recall", spec),
            _least("G1q", f"{where}: DR", 0.98, "deletions", "recall", spec),
            *_second_crawl(where, spec._replace(policy="digest")),
        ]  # fmt: skip
    return goals


def _second_crawl(where: str, spec: Spec) -> list[Goal]:
    """What a second full crawl finds: the bound of all that is done at that moment."""
    return [
        Goal("G1q", f"{where}: {name} of a second full crawl", None, "least",
             figure(group, "recall", spec))
        for name, group in (("NPR", "new_pages"), ("DR", "deletions"))
    ]  # fmt: skip


def _without_hints() -> list[Goal]:
    goals = [goal for budget in (5.0, 20.0, 40.0) for goal in _ahead_of_oracle(budget)]
    description = (
        "mct-twin weekly, 25 % of its pages, no hints: requests for 99 % ECR over the rate oracle's"
    )
    goals.append(Goal("G1'", description, 1.10, "most", _dearer_than_oracle))
    return goals


def _ahead_of_oracle(budget: float) -> list[Goal]:
    description = f"mct-twin weekly, no hints, {budget:g} %"
    return [
        Goal("G1'", f"{description}, {begun}: ECR less the rate oracle's, points", -2.0, "least",
             lead("epoch", "recall", variant, variant._replace(policy="oracle")))
        for begun, spec in (("six weeks known", _LEARNED), ("cold start", _WEEKLY))
        for variant in (spec._replace(budget=budget),)
    ]  # fmt: skip


def _dearer_than_oracle(scores: Scores) -> float | None:
    ours, best = (_requests_for(0.99, policy, scores) for policy in ("nacre-nohints", "oracle"))
    return ours / best if ours is not None and best else None


def _requests_for(recall: float, policy: str, scores: Scores) -> float | None:
    """Requests at which a policy reaches a recall, between two budgets.

    Those of full crawls, which always do, where it reaches it under none of them.
    """
    last: tuple[float, float] | None = None
    requests_needed = full = None
    for budget in _CURVE_AT:
        run_scores = scores(_CURVE._replace(policy=policy, budget=budget))
        reached, spent = run_scores["epoch"]["recall"], run_scores["cost"]["requests"]
        full = run_scores["saving"]["full_requests"]
        if reached is None or spent is None or requests_needed is not None:
            continue
        if reached >= recall:
            before, there = last or (reached, spent)
            part = (recall - before) / (reached - before) if reached > before else 1.0
            requests_needed = there + part * (spent - there)
        last = reached, spent
    return full if requests_needed is None else requests_needed


def _paper() -> list[Goal]:
    """With lists only, from a cold start, and with hints of the site."""
    starts = (
        ("no hints, six weeks known", _LEARNED),
        ("no hints, cold start", _WEEKLY),
        ("honest hints, cold start", _WEEKLY._replace(policy="nacre", hints="honest")),
    )
    return [
        Goal("G2", f"mct-twin weekly, {start_name}, what NLC spent: ECR less NLC's, points", 10.0,
             "least",
             lead("epoch", "recall", spec._replace(spend="nlc"), spec._replace(policy="nlc")))
        for start_name, spec in starts
    ]  # fmt: skip


def _storage() -> list[Goal]:
    where = "mct-twin weekly, all fetched"
    return [
        _least("G3", f"{where}, lean: real versions kept", 1.0, "lean", "recall", _STORAGE),
        _most("G3", f"{where}, lean: stored over one copy of each version", 1.05, "lean", "lean",
              _STORAGE),
        _most("G3", f"{where}, lean: the same without the sample a month", 1.05, "lean", "news",
              _STORAGE),
        Goal("G3", f"{where}, strict, which stores noise too: the same", None, "most",
             figure("lean", "strict", _STORAGE)),
    ]  # fmt: skip


# ---- versions


def _daily(policy: str, budget: float) -> Spec:
    return _DAILY._replace(policy=policy, budget=budget)


def _against_others() -> list[Goal]:
    delay = ratio("new_pages", "delay_median_h", _daily("nacre-nohints", 5.0),
                  _daily("heritrix", 5.0))  # fmt: skip
    partial = _daily("nacre", 10.0)._replace(hints="partial")
    return [
        _over("G4", "oracle", 5.0, 0.88),
        _over("G4", "oracle", 10.0, 0.97),
        Goal("G4", "mct-twin daily, 10 %: normalised score", 0.95, "least", _normalised),
        _over("G5", "heritrix", 5.0, 3.0),
        _over("G5", "heritrix", 14.0, 1.35),
        Goal("G5", "mct-twin daily, 5 %: delay of discovery over Heritrix's", 0.25, "most", delay),
        Goal("G6", "mct-twin daily, hints .8/.8, 10 %: VR less the oracle's without, points",
             0.0, "least", lead(*_VERSIONS, partial, _daily("oracle", 10.0))),
    ]  # fmt: skip


def _over(name: str, policy: str, budget: float, target: float) -> Goal:
    description = f"mct-twin daily, {budget:g} %: VR over {policy.title()}'s"
    measure = ratio(*_VERSIONS, _daily("nacre-nohints", budget), _daily(policy, budget))
    return Goal(name, description, target, "least", measure)


def _normalised(scores: Scores) -> float | None:
    ours, low, high = (
        scores(_daily(policy, 10.0))["versions"]["recall"]
        for policy in ("nacre-nohints", "uniform", "oracle")
    )
    if ours is None or low is None or high is None or high <= low:
        return None
    return (ours - low) / (high - low)


def _lies() -> list[Goal]:
    where = "mct-twin daily, lying hints and validators, 10 %"
    plain = _LYING._replace(policy="nacre-nohints", hints="none")
    return [
        Goal("G7", f"{where}: VR less that without any, points, after 14 days", -2.0, "least",
             lead(*_VERSIONS, _LYING, plain)),
        _most("G7", f"{where}: versions met behind a false 304", 0.01, "judgement",
              "hidden_by_304", _LYING),
    ]  # fmt: skip


# ---- verdicts


def _judgement() -> list[Goal]:
    where = "shop daily, 40 % of its pages"
    return [
        _most("G8", f"{where}: real changes judged unchanged", 0.001, "verdicts",
              "false_unchanged", _NOISY),
        _most("G8", f"{where}: edits of a date alone judged unchanged", 0.005, "verdicts",
              "false_unchanged_date", _NOISY),
        _most("G8", f"{where}: noise judged a change, after 5 pairs", 0.01, "verdicts",
              "false_changed_warm", _NOISY),
        _most("G8", f"{where}: noise judged a change, before", 0.05, "verdicts",
              "false_changed_cold", _NOISY),
        *(
            _most("G8", f"{where}: noise judged a change, pages with {noise}", 0.01, "verdicts",
                  f"false_changed_{noise}", _NOISY)
            for noise in _NOISES
        ),
    ]  # fmt: skip


def _endings() -> list[Goal]:
    return [
        _least("G9", "dying weekly: soft 404s found", 0.97, "verdicts", "soft_recall", _DYING),
        _least("G9", "dying weekly: soft 404s that are", 0.99, "verdicts", "soft_precision",
               _DYING),
        _most("G9", "dying weekly: challenge pages taken for a change", 0.0, "verdicts",
              "blocked_changed", _DYING),
    ]  # fmt: skip


# ---- known figures


def _rates() -> list[Goal]:
    bare = Spec(BARE, "grid")
    daily = _daily("nacre-nohints", 14.0)
    return [
        _most("G10", "bare pages: RMSE of ln λ after 30 visits", 0.45, "model", "rmse_ln_30", bare),
        _most("G10", "bare pages: RMSE of ln λ after 3 visits", 1.0, "model", "rmse_ln_3", bare),
        _least("G10", "mct-twin daily, 14 %: Brier skill of forecasts over their class", 0.3,
               "model", "brier_skill_class", daily),
    ]  # fmt: skip


def _cost() -> list[Goal]:
    return [
        _most("G11", "shop daily: bytes of a hot row beside its URL and template", 250.0, "state",
              "row_bytes", _NOISY),
        Goal("G11", "scheduling decisions a second on one core", 20_000.0, "least",
             lambda _: decisions_a_second(), apart=True),
    ]  # fmt: skip


def _links() -> list[Goal]:
    places = (_LINKED, _QUARTER._replace(world="mct-twin"), _LINKED._replace(world="wiki"),
              _LINKED._replace(world="docs", days=90.0))  # fmt: skip
    return [
        goal
        for spec in places
        for goal in (
            _least("G12", f"{spec.world}: links whose template got the right rule", 0.98, "state",
                   "rules", spec),
            _least("G12", f"{spec.world}: F1 of index pages", 0.97, "state", "index_f1", spec),
        )
    ]  # fmt: skip


def quick_goals() -> list[Goal]:
    """Return a few, in a world of sixty pages: that the harness works, and nothing about Nacre."""
    small = Spec("small", "nacre", "honest", 14.0)
    plain = small._replace(policy="nacre-nohints", hints="none", budget=20.0)
    nlc = plain._replace(budget=None, policy="nlc")
    return [
        _least("G1", "small: requests saved", 0.0, "saving", "saved_requests", small),
        _least("G1", "small: ECR", 0.9, "epoch", "recall", small),
        Goal("G2", "small: ECR less NLC's, points", 0.0, "least",
             lead("epoch", "recall", nlc._replace(policy="nacre-nohints", spend="nlc"), nlc)),
        Goal("G5", "small: VR over Heritrix's", 1.0, "least",
             ratio(*_VERSIONS, plain, plain._replace(policy="heritrix"))),
    ]  # fmt: skip
