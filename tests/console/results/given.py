"""A job whose second run found changes."""

from pathlib import Path

import msgspec

from nacre.core.changes import ChangedText, ChangeRow, TextRun
from nacre.core.states import ExitStatus
from nacre.machine.layout import Layout
from nacre.recrawl.change_log import ChangeLog
from nacre.runs.runs import RunRow, read_run, write_run
from nacre.store.store import Store
from tests.cli.known import NEWS, OLD, TIME, known_job

DAY = 86_400.0
WORDS = (ChangedText("text", (TextRun("=", "周一至周"), TextRun("-", "五"), TextRun("+", "<六>"))),)


def job_with_changes(folder: Path) -> Path:
    """Make a job in `crawls/demo` whose second run found a change and a page that is gone."""
    job = known_job(folder / "crawls" / "demo")
    start = TIME + DAY
    with Store.open(str(Layout(job).store)) as store:
        first = read_run(store)
        assert first is not None
        store.put("meta", b"runs:\0\0\0\1", msgspec.msgpack.encode(first))
        run = RunRow("20261121T100000Z", 2, start, ExitStatus.FINISHED, start + 90)
        write_run(store, msgspec.structs.replace(run, mode="incremental"))
        log = ChangeLog(store)
        log.add(ChangeRow(NEWS, start + 5, 2, "changed", start + 5, title="新闻", texts=WORDS))
        log.add(ChangeRow(OLD, start + 6, 2, "gone", start + 6, 404))
        store.commit()
    return job
