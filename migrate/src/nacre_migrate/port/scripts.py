"""Scripts of Heritrix's console that are recognised (pure). No script is ever run.

A recognised script is one that a known client sends, word for word but for white space; what it
does is done natively. Sources: heritrix3 0.4.1 from PyPI, hapy.
"""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, NamedTuple


class Deed(Enum):
    """The purpose of a recognised script."""

    LAUNCH_ID = "print the id of the launch"
    FILES = "list files and folders"
    WARCS = "list the WARCs of a launch"
    DELETE = "delete the job's directory"


class RecognisedScript(NamedTuple):
    """A recognised script.

    Attributes:
        deed: What it does.
        files: It lists files.
        folders: It lists folders.
        launch: The launch of the listed WARCs: `latest`, or an id.
    """

    deed: Deed
    files: bool = False
    folders: bool = False
    launch: str = ""


ENGINES: Final = (("beanshell", "BeanShell"), ("groovy", "Groovy"))
"""Engines that are named, with their languages; neither runs anything."""

VARIABLES: Final = (
    ("rawOut", "a PrintWriter for arbitrary text output to this page"),
    ("htmlOut", "a PrintWriter for HTML output to this page"),
    ("job", "the current CrawlJob instance"),
    ("appCtx", "current job ApplicationContext, if any"),
    ("scriptResource", "the ScriptResource implementing this page, which offers utility methods"),
)
"""Variables that a script of Heritrix has, with its own words for them."""

_LAUNCH: Final = "[A-Za-z0-9_-]{1,64}"
_FILES: Final = "it.eachFile { rawOut.println( it ); };"
_FOLDERS: Final = "rawOut.println( it )"


def _tokens(text: str) -> str:
    """A script without the white space that means nothing: between words one space is left."""
    return re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(text.split()))


def _listing(*, files: bool, folders: bool) -> str:
    parts = f"{_FILES if files else ''} {_FOLDERS if folders else ''}"
    return (
        f"def listRecurs; listRecurs = {{ it.eachDir( listRecurs ); {parts} }}; "
        "listRecurs( job.jobDir )"
    )


_DELETE_HERITRIX3: Final = (
    "def delRecurs; delRecurs = { it.eachDir( delRecurs ); it.eachFile { it.delete(); }; "
    "it.delete(); }; delRecurs( job.jobDir )"
)
_DELETE_HAPY: Final = (
    "def delClos delClos = { it.eachDir( delClos ); it.eachFile { it.delete() } it.delete() } "
    "delClos( job.jobDir )"
)

_WORDS: Final[Mapping[str, RecognisedScript]] = {
    _tokens("rawOut.println( appCtx.getCurrentLaunchId() );"): RecognisedScript(Deed.LAUNCH_ID),
    **{
        _tokens(_listing(files=files, folders=folders)): RecognisedScript(
            Deed.FILES, files, folders
        )
        for files in (True, False)
        for folders in (True, False)
    },
    _tokens(_DELETE_HERITRIX3): RecognisedScript(Deed.DELETE),
    _tokens(_DELETE_HAPY): RecognisedScript(Deed.DELETE),
}
"""Recognised scripts by their words."""

_WARCS: Final = re.compile(
    re.escape(_tokens('warcDir = new File( job.jobDir, "LAUNCH/warcs" ) warcDir.eachFile {'))
    .replace("LAUNCH", f"({_LAUNCH})") + re.escape(_tokens("rawOut.println( it ); };"))
)  # fmt: skip
_LONGEST: Final = 100_000


def recognise(script: str) -> RecognisedScript | None:
    """The recognised script of a text; None for any other.

    Args:
        script: The text; hostile.
    """
    if len(script) > _LONGEST:
        return None
    words = _tokens(script)
    recognised = _WORDS.get(words)
    if recognised is not None:
        return recognised
    warcs = _WARCS.fullmatch(words)
    return RecognisedScript(Deed.WARCS, launch=warcs[1]) if warcs is not None else None


class _Instead(NamedTuple):
    """What is to be used in place of a script in which a word occurs."""

    word: str
    say: Callable[[str], str]


_INSTEAD: Final = (
    _Instead("deleteURIs", lambda j: f"`nacre frontier {j} delete --regex EXPRESSION`"),
    _Instead("importURIs", lambda j: f"`nacre frontier {j} import FILE`"),
    _Instead("addSeed", lambda j: f"a file NAME.seeds in the job's folder `action`, or `nacre frontier {j} import FILE`"),  # noqa: E501
    _Instead("schedule", lambda j: f"`nacre frontier {j} import FILE`"),
    _Instead("getInitialMarker", lambda j: f"`nacre frontier {j} list --regex EXPRESSION`"),
    _Instead("getURIsList", lambda j: f"`nacre frontier {j} list --regex EXPRESSION`"),
    _Instead("reconsiderRetiredQueues", lambda j: f"`nacre frontier {j} reconsider`"),
    _Instead("Sheet", lambda j: f"`nacre sheet {j} add NAME PATH=VALUE`"),
    _Instead("seeds", lambda j: f"`nacre report {j} seeds --json`"),
    _Instead("statisticsTracker", lambda j: f"`nacre status {j} --json`, `nacre report {j} list`"),
    _Instead("frontier", lambda j: f"`nacre frontier {j} list`, `nacre status {j} --json`"),
    _Instead("appCtx", lambda j: f"`nacre check {j} --explain PATH`, `nacre set {j} PATH=VALUE`"),
)  # fmt: skip
"""The first word that occurs decides."""


def refusal(script: str, job: str) -> str:
    """The message for a script that is not recognised, with a replacement.

    Args:
        script: It; hostile.
        job: The job as it is typed in a command.
    """
    text = script[:_LONGEST]
    instead = next(
        (replacement.say(job) for replacement in _INSTEAD if replacement.word in text), ""
    )
    advice = (
        instead or f"`nacre --help`, `nacre status {job} --json` and the REST interface /api/v1"
    )
    return f"scripts are not run; instead: {advice}"
