"""Seeds of Heritrix, in the configuration itself or in a file of its directory."""

from nacre.machine.local_files import read_ordinary
from nacre_migrate.draft import require_seeds
from nacre_migrate.files import read_lines
from nacre_migrate.heritrix.beans import Bean, Setting, decide_all
from nacre_migrate.heritrix.work import Migration, beside
from nacre_migrate.report import Conversion, defaulted, mapped, to_check

_STOCK = "http://example.example/example"
_MAX_BYTES = 512_000_000


def map_seeds(work: Migration, bean: Bean) -> None:
    """The properties of TextSeedModule."""
    bean.decide(mapped("seeds"))
    source = bean.settings.get("textSource")
    if source is not None:
        source.decide(_source(work, source))
    tags = bean.settings.get("sourceTagSeeds")
    if tags is not None and bean.is_true("sourceTagSeeds"):
        work.put(tags, "engine.source_tags", value=True)
    elif tags is not None:
        tags.decide(defaulted("as Nacre does", "engine.source_tags"))
    if (wait := bean.settings.get("blockAwaitingSeedLines")) is not None:
        wait.decide(defaulted("seeds are read while the crawl runs already"))


def _source(work: Migration, setting: Setting) -> Conversion:
    value = work.beans.resolved(setting.value)
    if not isinstance(value, Bean):
        return to_check("neither ConfigString nor ConfigFile: put the seeds into seeds.txt")
    value.decide(mapped("seeds"))
    if "path" in value.settings:
        path = value.settings["path"]
        path.decide(read_file(work, path, path.text))
    if "value" in value.settings:
        text = value.settings["value"]
        work.draft.seeds += (line.strip() for line in str(text.value or "").splitlines())
        stock = _STOCK in work.draft.seeds
        text.decide(mapped("seeds", "a placeholder, kept as a comment" if stock else ""))
    decide_all(value.settings.values(), defaulted("seeds are read once, at the start"))
    return mapped("seeds")


def read_file(work: Migration, setting: Setting, name: str) -> Conversion:
    """The lines of a file become the seed list; the conversion of its property."""
    path = beside(work.directory, name)
    try:
        if not name or path.stat().st_size > _MAX_BYTES:
            return to_check("too long to be copied: set `seeds` to where it is", "seeds")
        data = read_ordinary(path, _MAX_BYTES)
    except OSError as error:
        work.report.add_file(name, f"seeds; cannot be read: {error.strerror}", check=True)
        return to_check("the file cannot be read: put its seeds into seeds.txt", "seeds")
    lines, encoding = read_lines(data)
    note = f"seeds, read as {encoding}" if encoding else "seeds"
    work.report.add_file(name, note, check=bool(encoding))
    work.draft.seeds += (line.strip() for line in lines)
    return mapped("seeds")


def finish_seeds(work: Migration) -> None:
    """The list without blank lines around it; a list without seeds has a comment for them."""
    lines = work.draft.seeds
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    lines[:] = (f"# {line} (of the stock profile)" if line == _STOCK else line for line in lines)
    require_seeds(work.draft, work.report)
