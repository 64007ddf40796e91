"""Test URLs with rules: with files of Nutch's rules, with the scope of a job, with normalizers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.assembly.rules import open_rules
from nacre.engine.candidates.normalizing import normalizing
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.errors import URIError
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.scope.normalize.chain import NormalizerChain, NormalizerSettings, NormalizeScope
from nacre.scope.nutch.filters import FilterChain, FilterKind, RuleText, make_filter, reading
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.uri.parse import parse


class UrlVerdict(NamedTuple):
    """The verdict of rules on a URL.

    Attributes:
        accepted: The URL is accepted.
        rule: The rule that decided.
    """

    accepted: bool
    rule: str


UrlJudge = Callable[[str], UrlVerdict]
"""Tests a URL."""


def filters_of_files(files: Sequence[tuple[Path | None, FilterKind]]) -> UrlJudge:
    """Return the test of a URL by files of rules, each with its kind; None for a kind without file.

    Raises:
        ConfigError: A file cannot be read, or has other rules.
    """
    rule_files = RuleFiles(Path())
    filters = []
    for path, kind in files:
        source = reading(RuleText(file=str(path) if path else ""), rule_files.read_lines)
        filters.append(make_filter(kind, source))
    chain = FilterChain(filters)

    def judge(url: str) -> UrlVerdict:
        ruling = chain.judge(url)
        return UrlVerdict(ruling.passes, ruling.place)

    return judge


def scope_of_job(layout: Layout, settings: JobSettings) -> UrlJudge:
    """Return the test of a URL by the scope of a job, after its normalizers.

    A URL that is not a seed is tested as a link on a seed.
    """
    rules = open_rules(settings, layout.root)
    seeds = rules.add_seeds(Job(layout.root, settings).seeds())
    scope, sheets = rules.scope(), rules.sheets
    forms = normalizing(settings.uri, rules.rule_files)
    seed_texts = {seed.url: seed.text if seed.own else "" for seed in seeds}

    def judge(text: str) -> UrlVerdict:
        try:
            url: str | None = parse(text, max_length=settings.uri.max_length)
        except URIError as error:
            return UrlVerdict(accepted=False, rule=f"no URL: {error}")
        if forms is not None and url is not None:
            url = forms.link(url)
        if url is None:
            return UrlVerdict(accepted=False, rule="uri.normalize")
        is_seed = url in seed_texts
        path, owner = "" if is_seed else "L", seed_texts.get(url, "")
        subject = Subject(url, path=path, is_seed=is_seed, seed=owner)
        verdict = scope[sheets.overlay(subject)].decide(subject)
        return UrlVerdict(verdict.accepted, verdict.rule)

    return judge


def normalizers_of_files(
    settings: Sequence[NormalizerSettings], scope: NormalizeScope
) -> Callable[[str], str]:
    """Return the function that normalizes a URL; it raises URIError if there is no normal form.

    Args:
        settings: The normalizers, in order; their files are relative to the working directory.
        scope: The use of the URL, which a normalizer may depend on.

    Raises:
        ConfigError: A file cannot be read, or has other rules.
    """
    return NormalizerChain(settings, scope, RuleFiles(Path()).read_lines).normalize
