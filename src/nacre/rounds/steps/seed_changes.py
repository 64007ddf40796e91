"""Find known URLs whose verdict may change, as seeds were added or removed since.

A seed concerns URLs whose SURT begins with the prefix that it implies, and its descendants if it
has a separate scope. A prefix that other seeds already implied changes nothing.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.kernels import parquet
from nacre.crawldb.seeds import FIRST_PREFIX, GONE, OWN, PAGE, SEEDS
from nacre.rounds.admission import Admission
from nacre.rounds.steps.judging import ChangedSeeds, RulesOfStep
from nacre.rounds.storage import open_storage
from nacre.rounds.tables.seed_index import SeedPlace
from nacre.rounds.tables.tables import LocalBucket, TaskWork, local_file
from nacre.rounds.tables.versions import Cycle, CycleVersion, TableFile
from nacre.scope.seed_index import Coercion, widen
from nacre.uri.surt import SurtPrefixSet, implied_prefix, scope_surt

_MOST_COMPARED = 2_000
"""Most changed prefixes of a bucket to compare with those of other seeds."""
_PLACE = r"regexp_extract(coalesce(url, key), '^[a-z0-9+.-]+:(//[^/?#]*)?')"
_HOST = r"regexp_extract({0}.key, '^[^)]*\)')"
_PLAIN = f"key >= '{FIRST_PREFIX}' and key < '{PAGE}'"
_BARE_KEY = f"case when starts_with(key, '{GONE}') then key[2:] else key end"


class _Prefixes(NamedTuple):
    """Added and removed prefixes."""

    new: SurtPrefixSet
    gone: SurtPrefixSet


class ConcernedRows:
    """Finds the rows of buckets that changed seeds may concern.

    Args:
        work: The kernel and folder of the task.
        rules: The rules, with the seeds that changed.
    """

    def __init__(self, work: TaskWork, rules: RulesOfStep) -> None:
        self._work, self._rules = work, rules

    def find(self, bucket: int, local: LocalBucket, table: str) -> bool:
        """Add the keys of the concerned rows to a table; return False if there are none.

        Args:
            bucket: The bucket.
            local: Its files.
            table: A table of the kernel with a column `key`.
        """
        changed, place = self._rules.changed, self._rules.seeds.place
        if changed is None or not changed.concern(bucket):
            return False
        kernel = self._work.kernel
        if changed.all or place is None:
            query = fold_query(*local, interval=0, columns=("key",), order=False)
            kernel.execute(f"insert into {table} select key from ({query})")
            return True
        prefixes = self._prefixes(changed, place, bucket)
        owners = self._owners if changed.own else ()
        if not (prefixes.new or prefixes.gone or owners):
            return False
        columns = ("key", "url", "path", "source")
        query = fold_query(*local, interval=0, columns=columns, order=False)
        kernel.execute(
            f"create or replace temp table ways as select key, path, source, {_PLACE} as place "
            f"from ({query})"
        )
        places = [str(row_place) for (row_place,) in kernel.rows("select distinct place from ways")]
        new = _find_concerned(prefixes.new, places)
        gone = _find_concerned(prefixes.gone, places)
        # A seed is within the prefix that it implies, unless it has a separate scope.
        either = new | gone if place.own else gone
        self._load("concerned", new | gone)
        self._load("wholly", either)
        self._load("owners", owners)
        kernel.execute(
            f"insert into {table} select key from ways where "
            "(path is not null and place in (select name from concerned)) "
            "or place in (select name from wholly) "
            "or source in (select name from owners)"
        )
        return True

    def _load(self, name: str, values: Iterable[str]) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        self._work.kernel.load(name, pa.table({"name": pa.array(list(values), pa.string())}))

    @cached_property
    def _coercions(self) -> frozenset[Coercion]:
        rules = self._rules
        admission = rules._replace(seeds=rules.seeds._replace(place=None, lines=()))
        opened: Admission = admission.admission(self._work.scratch)
        return opened.seed_needs().coercions

    @cached_property
    def _files(self) -> dict[int, list[TableFile]]:
        place = self._rules.seeds.place
        by_bucket: dict[int, list[TableFile]] = {}
        if place is not None:
            version = CycleVersion(tables={SEEDS: place.table})
            for file in Cycle(open_storage(place.storage), "here").files(version, SEEDS):
                by_bucket.setdefault(file.bucket, []).append(file)
        return by_bucket

    def _paths(self, files: Sequence[TableFile]) -> list[str]:
        return [local_file(self._work.storage, file, self._work.scratch) for file in files]

    @cached_property
    def _owners(self) -> list[str]:
        """The added or removed seeds with a separate scope."""
        changed = self._rules.changed
        since = changed.since if changed is not None else 0
        files = [file for f in self._files.values() for file in f if file.seq > since]
        owners: list[str] = []
        for file in files:
            rows = self._work.kernel.rows(
                f"select distinct ltrim(key, '{GONE}')[2:] from {parquet(self._paths([file]))} "
                f"where since > {since} and regexp_matches(key, '^{GONE}?{OWN}')"
            )
            owners += [str(owner) for (owner,) in rows]
        return owners

    @cached_property
    def _directives(self) -> SurtPrefixSet:
        """The prefixes of added or removed lines with + or -."""
        changed = self._rules.changed
        paths = self._paths(self._files.get(0, ()))
        if changed is None or not changed.directives or not paths:
            return SurtPrefixSet()
        rows = self._work.kernel.rows(
            f"select distinct ltrim(key, '{GONE}')[2:] from {parquet(paths)} "
            f"where since > {changed.since} and regexp_matches(key, '^{GONE}?[+-]')"
        )
        return SurtPrefixSet(implied_prefix(str(text).strip()) for (text,) in rows)

    def _prefixes(self, changed: ChangedSeeds, place: SeedPlace, bucket: int) -> _Prefixes:
        """Return the added and removed prefixes of a bucket; directives count as both."""
        new, gone = list(self._directives), list(self._directives)
        if bucket in changed.buckets and place.table.rows:
            self._load_changed(changed.since, self._paths(self._files.get(bucket, ())))
            for key, went in self._work.kernel.rows("select key, went from changed_seeds"):
                forms = (widen(key, coercion) for coercion in self._coercions)
                (gone if went else new).extend(forms)
        return _Prefixes(SurtPrefixSet(new), SurtPrefixSet(gone))

    def _load_changed(self, since: int, paths: Sequence[str]) -> None:
        """Make a table of the changed prefixes that no other seed already implied."""
        kernel, source = self._work.kernel, parquet(paths)
        kernel.execute(
            "create or replace temp table changed_seeds as select key, bool_or(went) as went from "
            f"(select {_BARE_KEY} as key, starts_with(key, '{GONE}') as went from {source} "
            f"where since > {since}) where {_PLAIN} group by key"
        )
        if int(kernel.value("select count(*) from changed_seeds")) > _MOST_COMPARED:
            return
        kernel.execute(
            f"create or replace temp table old_seeds as select distinct key from {source} "
            f"where since <= {since} and {_PLAIN}"
        )
        covered = []
        if Coercion.PREFIX in self._coercions:
            covered.append("exists (select 1 from old_seeds o where starts_with(c.key, o.key))")
        if self._coercions - {Coercion.PREFIX}:
            old, new = _HOST.format("o"), _HOST.format("c")
            covered.append(
                f"exists (select 1 from old_seeds o where {old} = {new} and {old} != '')"
            )
        where = " and ".join(covered) or "true"
        kernel.execute(f"delete from changed_seeds c where {where}")


def _find_concerned(prefixes: SurtPrefixSet, places: Sequence[str]) -> set[str]:
    """Return the places (scheme and authority) that prefixes equal or are within."""
    if not prefixes:
        return set()
    surts = ((place, scope_surt(f"{place}/" if "//" in place else place)) for place in places)
    return {
        place
        for place, surt in surts
        if prefixes.match(surt) is not None or prefixes.any_below(surt)
    }
