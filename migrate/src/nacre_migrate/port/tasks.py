"""Tasks of reader processes for Heritrix's interface: check, convert, and write a report."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nacre.console.fleet.places import CLASSES, CXML, PROFILE, REPORT
from nacre.errors import ConfigError, NacreError
from nacre.store.layout import Layout

_WORKSHOP: Final = ".conversion"
_MOST_EFFECTIVE: Final = 16_000_000
"""Bytes of `effective.json`: scopes and sheets may be long."""

TEMPLATE: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<beans xmlns="http://www.springframework.org/schema/beans">
  <!-- A new job. Send a file of your own in its place, or fill in the contact and the seeds. -->
  <bean id="metadata" class="org.archive.modules.CrawlMetadata" autowire="byName">
    <property name="operatorContactUrl" value="ENTER_AN_URL_WITH_YOUR_CONTACT_INFO_HERE_FOR_WEBMASTERS_AFFECTED_BY_YOUR_CRAWL"/>
    <property name="jobName" value="basic"/>
  </bean>
  <bean id="seeds" class="org.archive.modules.seeds.TextSeedModule">
    <property name="textSource">
      <bean class="org.archive.spring.ConfigString">
        <property name="value">
          <value>
# URLS HERE
          </value>
        </property>
      </bean>
    </property>
  </bean>
</beans>
"""  # noqa: E501 - a name that scripts look for
"""The configuration of a job that was just created, with Heritrix's words where scripts put
theirs."""


def config_of(root: Path) -> str:
    """The file that configures a job: the beans while they are the newer one, else `crawl.yaml`."""
    for name in (CXML, PROFILE):
        try:
            beans = (root / name).stat().st_mtime_ns
        except OSError:
            continue
        try:
            return name if beans >= (root / "crawl.yaml").stat().st_mtime_ns else "crawl.yaml"
        except OSError:
            return name
    return "crawl.yaml"


def convert_beans(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Make `crawl.yaml` of the beans of a job; with every problem, and without one written file.

    Args:
        layout: The job.
        arguments: `file`: name of the beans; `files`: the asker may name files of this machine,
            and so its variables.

    Returns:
        `problems`, and `advice` with the settings that were left out.
    """
    from nacre.job.control import is_running  # noqa: PLC0415
    from nacre_migrate.answers import UnansweredError, read_answers  # noqa: PLC0415 - see above
    from nacre_migrate.draft import write_job  # noqa: PLC0415
    from nacre_migrate.heritrix.convert import convert  # noqa: PLC0415
    from nacre_migrate.port.converted import require_allowed  # noqa: PLC0415 - starts faster

    if is_running(layout.socket):
        notice = f"{arguments['file']} is taken over by the build after this run: the job runs"
        return {"problems": [], "advice": [notice]}
    files = bool(arguments["files"])
    root, workshop = layout.root, layout.root / _WORKSHOP
    shutil.rmtree(workshop, ignore_errors=True)
    beans = root / str(arguments["file"])
    try:
        classes = root / CLASSES
        answers = read_answers((), classes if classes.is_file() else None)
        draft, report = convert(beans, answers=answers, environ=os.environ if files else {})
        left_out = require_allowed(draft, report, layout, beans.name, files=files)
        write_job(workshop, draft, report)
        for file in workshop.iterdir():
            name = {"migration.txt": REPORT, "migration.json": "migration.json"}.get(file.name)
            _move(file, root / (name or file.name))
        facts = beans.stat()
        os.utime(layout.config, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    except UnansweredError as error:
        questions = [str(question.problem()) for question in error.questions]
        answered = "; ".join(question.answer for question in error.questions)
        questions.append(f"answer in {CLASSES} of the job, one CLASS=WHAT a line: {answered}")
        return {"problems": [" ".join(question.split()) for question in questions], "advice": []}
    except ConfigError as error:
        return {"problems": _lines(error), "advice": []}
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    advice = [" ".join(line.split()) for line in (*left_out, *report.advice)]
    return {"problems": [], "advice": advice}


def _move(path: Path, place: Path) -> None:
    if not path.is_dir():
        path.replace(place)
        return
    place.mkdir(exist_ok=True)
    for below in path.iterdir():
        _move(below, place / below.name)


def _lines(error: ConfigError) -> list[str]:
    return [" ".join(str(problem).split()) for problem in error.problems]


def check_settings(layout: Layout, _: Mapping[str, Any]) -> dict[str, object]:
    """Check a job as `nacre check` does: problems and warnings, a line each."""
    import asyncio  # noqa: PLC0415 - see above

    from nacre.job.api import check_job  # noqa: PLC0415

    try:
        result = asyncio.run(check_job(layout.root))
    except ConfigError as error:
        return {"problems": _lines(error), "warnings": []}
    except NacreError as error:
        return {"problems": [" ".join(str(error).split())], "warnings": []}
    return {
        "problems": [" ".join(str(problem).split()) for problem in result.problems],
        "warnings": [" ".join(str(warning).split()) for warning in result.warnings],
    }


def write_report(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Write a report of the last run into its folder, as text.

    Args:
        layout: The job.
        arguments: `name`: that of the report; `toes`: what the running job said of its workers,
            None where it does not run.

    Raises:
        JobError: There is no run.
        StorageError: The store cannot be read.
    """
    from nacre.console.readers.views import figures_of  # noqa: PLC0415 - see above
    from nacre.inspect.reports.run_reports import RUN_REPORTS  # noqa: PLC0415
    from nacre.inspect.reports.source import source_of  # noqa: PLC0415
    from nacre.inspect.view import reading  # noqa: PLC0415
    from nacre.settings.load import load_job  # noqa: PLC0415
    from nacre.store.local_files import replace_file  # noqa: PLC0415

    kind = next(report for report in RUN_REPORTS if report.name == arguments["name"])
    settings = load_job(layout).settings
    with reading(layout, settings) as view:
        toes = arguments["toes"]
        live = figures_of(toes) if toes else None
        source = source_of(view.store, layout, settings, live)
        text = "".join(line for line, _ in kind().parts(source))
        path = layout.run(source.facts().run) / "reports" / kind().file
    replace_file(path, text.encode("utf-8", "backslashreplace"))
    return {"file": path.name, "modified": path.stat().st_mtime}


def _live_values(layout: Layout) -> dict[str, object]:
    """The values by path that a running job has, which may differ from its file; {} at rest."""
    from nacre.config.ordinary import read_ordinary  # noqa: PLC0415 - see above
    from nacre.job.control import is_running  # noqa: PLC0415
    from nacre.runs.manifest import EFFECTIVE  # noqa: PLC0415

    if not is_running(layout.socket):
        return {}
    try:
        settings = json.loads(read_ordinary(layout.latest.resolve() / EFFECTIVE, _MOST_EFFECTIVE))
    except (OSError, ValueError):
        return {}
    return {path: setting["value"] for path, setting in settings.items()}


def bean_values(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """The settings that are in force, for the browser of beans.

    Args:
        layout: The job.
        arguments: `paths`: the settings.

    Returns:
        `values` by path, a path that the job does not have left out, the names of `sheets`, and
        the `rules` of the scope.
    """
    from nacre.config.facts import value_at  # noqa: PLC0415 - see above
    from nacre.settings.load import load_job  # noqa: PLC0415

    settings = load_job(layout).settings
    values: dict[str, object] = {}
    live = _live_values(layout)
    for path in arguments["paths"]:
        try:
            value = value_at(settings, path)
        except ConfigError:
            continue
        plain = value is None or type(value) in {bool, int, float, str}
        values[path] = live.get(path, value) if plain else str(value)
    rules = live.get("scope") or [rule.model_dump(mode="json") for rule in settings.scope]
    return {"values": values, "sheets": sorted(settings.sheets), "rules": rules}
