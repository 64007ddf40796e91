"""Beans that become the settings of a job, and the lines that its log has about that."""

from pathlib import Path
from typing import Final

from nacre.core.clock import iso_millis
from nacre.fleet.places import CXML, PROFILE
from nacre.fleet.reach import may_name_files
from nacre.fleet.requester import Requester
from nacre.machine.layout import Layout
from nacre.runs.runs import append_note, note_line
from nacre.web.port import PortParts

_PATIENCE: Final = 60.0

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


async def convert(parts: PortParts, layout: Layout, beans: str, requester: Requester) -> list[str]:
    """Convert the beans of a job; the problems. What else there is to say is in its log.

    Args:
        parts: The parts of the console that the port uses.
        layout: The job.
        beans: Name of the file that has them.
        requester: Who asks; not everybody may name files of this machine.
    """
    files = may_name_files(requester.role, is_remote=parts.reach.is_remote, places=requester.places)
    answer = await ask_reader(parts, layout, "convert-beans", file=beans, files=files)
    for line in answer["advice"]:
        note(parts, layout, "WARNING", line)
    return answer["problems"]


async def ask_reader(
    parts: PortParts, layout: Layout, task: str, **arguments: object
) -> dict[str, list[str]]:
    """The lines that a task of a reader process answers with, by their kind."""
    answer: dict[str, list[str]] = await parts.readers.ask(
        task, layout.root, _PATIENCE, **arguments
    )
    return answer


def note(parts: PortParts, layout: Layout, level: str, text: str) -> None:
    """Add a line to the log of a job."""
    append_note(layout.root, note_line(iso_millis(parts.clock.now()), level, text))


def is_profile(root: Path) -> bool:
    """Whether a directory is that of a profile, which is not launched."""
    return (root / PROFILE).is_file()
