"""Java programs as Maven artifacts, for tests against real servers; their jars are in the cache.

The releases of Solr and OpenSearch are in no registry, but their parts are, and a few lines of Java
run these as the releases do.
"""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools import cache

CACHE = cache.folder("maven")
SOLR = ("org.apache.solr:solr-test-framework:9.8.1",)
OPENSEARCH = (
    "org.opensearch:opensearch:2.19.1",
    "org.opensearch.plugin:transport-netty4-client:2.19.1",
    "org.opensearch.plugin:reindex-client:2.19.1",
    "org.opensearch.plugin:analysis-common:2.19.1",
    "org.apache.logging.log4j:log4j-core:2.21.0",
)
"""The server, its HTTP, what deletes by a query, its analyzers, and its log."""


class ArtifactError(Exception):
    """Artifacts could not be brought; the message says why."""


def missing() -> str:
    """The commands that are needed and are not there, with what installs them; "" for none."""
    absent = [program for program in ("java", "mvn") if shutil.which(program) is None]
    return f"{' and '.join(absent)}: apt-get install maven default-jdk-headless" if absent else ""


def jars(*artifacts: str) -> Path:
    """Return the folder of artifacts and their dependencies, downloaded if it does not exist.

    Args:
        artifacts: Group, name and version of each, with colons.

    Raises:
        ArtifactError: Maven cannot bring them.
    """
    text = pom(*artifacts)
    folder = CACHE / hashlib.sha256(text.encode()).hexdigest()[:16]
    with cache.locked(folder):
        if not folder.is_dir():
            _bring(text, folder)
    return folder


def pom(*artifacts: str) -> str:
    """Return the project that needs artifacts, as Maven reads it."""
    needed = ""
    for artifact in artifacts:
        group, name, version = artifact.split(":")
        needed += (
            f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version></dependency>\n"
        )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>\n'
        "<groupId>nacre</groupId><artifactId>servers</artifactId><version>1</version>\n"
        f"<packaging>pom</packaging>\n<dependencies>\n{needed}</dependencies></project>\n"
    )


def _bring(text: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        place = Path(name)
        (place / "pom.xml").write_text(text)
        process = subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars",
             "-DincludeScope=runtime"],
            cwd=place, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if process.returncode:
            raise ArtifactError(f"Maven cannot bring them: {process.stdout[-2000:]}")
        (place / "jars").replace(folder)
