"""Build Apache Nutch 1.22 for `bench.cycle --nutch`: `python -m tools.nutch SOURCE DIR`.

Its core and what that needs are Maven artifacts. Its plug-ins are in no registry, and are compiled
of SOURCE: the source of the release, such as `git clone --branch release-1.22
https://github.com/apache/nutch`. Needs Maven and a JDK. DIR gets `lib`, `plugins` and `conf`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "1.22"
PLUGINS = (
    "nutch-extensionpoints", "lib-nekohtml", "lib-regex-filter", "lib-http",
    "protocol-http", "urlfilter-regex", "urlfilter-validator", "parse-html", "index-basic",
    "scoring-opic", "urlnormalizer-pass", "urlnormalizer-regex", "urlnormalizer-basic",
)  # fmt: skip
"""Those of `plugin.includes` of nutch-default.xml that rounds need, and their libraries, which go
first."""
LIBRARIES = {
    "lib-nekohtml": ("net.sourceforge.nekohtml:nekohtml:1.9.19",),
    "parse-html": ("org.ccil.cowan.tagsoup:tagsoup:1.2.1",),
}
"""Further artifacts of a plug-in, by its ivy.xml."""


def run(*words: str, folder: Path) -> None:
    """Run a command; its output is shown when it fails."""
    process = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"{' '.join(words[:4])}: {process.stdout[-3000:]}{process.stderr[-3000:]}")


def maven(folder: Path, artifact: str, into: Path) -> None:
    """Download an artifact without its dependencies."""
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:2.8"
    run("mvn", "-q", "-B", f"{plugin}:get", f"-Dartifact={artifact}", "-Dtransitive=false",
        folder=folder)  # fmt: skip
    copied = [f"-Dartifact={artifact}", f"-DoutputDirectory={into}", "-Dmdep.useBaseVersion=true"]
    run("mvn", "-q", "-B", f"{plugin}:copy", *copied, folder=folder)


def core(folder: Path) -> None:
    """Download the core and its dependencies to `lib`; its optional ones are needed to run."""
    artifact = f"org.apache.nutch:nutch:{VERSION}"
    maven(folder, artifact, folder / "lib")
    maven(folder, f"{artifact}:pom", folder)
    (folder / f"nutch-{VERSION}.pom").rename(folder / "pom.xml")
    run("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib",
        "-DincludeScope=runtime", folder=folder)  # fmt: skip


def plugin(source: Path, folder: Path, name: str) -> None:
    """Compile a plug-in to `plugins`."""
    place = folder / "plugins" / name
    place.mkdir(parents=True, exist_ok=True)
    home = source / "src" / "plugin" / name
    shutil.copy(home / "plugin.xml", place)
    for artifact in LIBRARIES.get(name, ()):
        maven(folder, artifact, place)
    sources = [str(path) for path in sorted((home / "src" / "java").rglob("*.java"))]
    if not sources:
        return
    classes = folder / "classes" / name
    classes.mkdir(parents=True, exist_ok=True)
    path = f"lib/*:{':'.join(f'plugins/{plugin_name}/*' for plugin_name in PLUGINS)}"
    run("javac", "-nowarn", "-encoding", "UTF-8", "-d", str(classes), "-cp", path, *sources,
        folder=folder)  # fmt: skip
    run("jar", "cf", str(place / f"{name}.jar"), "-C", str(classes), ".", folder=folder)


def settings(source: Path, folder: Path) -> None:
    """Copy the default configuration; its templates are as they are delivered."""
    shutil.copytree(source / "conf", folder / "conf", dirs_exist_ok=True)
    for template in sorted((folder / "conf").glob("*.template")):
        target = template.with_suffix("")
        if not target.exists():
            shutil.copy(template, target)


def main() -> None:
    """Build it."""
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    source, folder = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    if not (source / "src" / "plugin").is_dir():
        raise SystemExit(f"{source}: not the source of Nutch: it has no src/plugin")
    for command in ("mvn", "javac", "jar"):
        if shutil.which(command) is None:
            raise SystemExit(f"{command} is missing: apt-get install maven default-jdk-headless")
    folder.mkdir(parents=True, exist_ok=True)
    core(folder)
    for name in PLUGINS:
        plugin(source, folder, name)
    settings(source, folder)
    sys.stdout.write(f"Nutch {VERSION} is in {folder}: {len(PLUGINS)} plug-ins\n")


if __name__ == "__main__":
    main()
