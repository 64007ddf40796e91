"""Builds the documentation as a web site, offline, and checks its links.

    python -m tools.docs_site.build            build into .cache/docs/html
    python -m tools.docs_site.build --serve    build, and serve it on http://127.0.0.1:8000/

Sphinx runs in a separate environment, `.venv-docs`, from requirements-docs.lock. A link to a page,
file or heading that does not exist fails the build, as any warning of Sphinx does.
"""

import functools
import http.server
import subprocess
import sys
import time
from pathlib import Path

from tools import judges
from tools.docs_site import pages

LOCK = "requirements-docs.lock"
FOLDER = pages.ROOT / ".cache" / "docs"
HTML = FOLDER / "html"


def build() -> int:
    """Build the site; return 0, or 1 if a link or a page has an error."""
    broken = pages.find_broken_links(pages.ROOT)
    for link in broken:
        print(f"{link.page}: broken link to {link.target}#{link.anchor}", file=sys.stderr)
    if broken:
        return 1
    python = judges.prepare(pages.ROOT, LOCK, ".venv-docs") / "python"
    begin = time.monotonic()
    pages.assemble(pages.ROOT, FOLDER / "source")
    here = Path(__file__).resolve().parent
    command = [str(python), "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-j", "2"]
    command += ["-c", str(here), "-d", str(FOLDER / "trees"), str(FOLDER / "source"), str(HTML)]
    process = subprocess.run(command, check=False)
    if process.returncode == 0:
        print(f"built in {time.monotonic() - begin:.0f} s: {HTML / 'index.html'}")
    return int(process.returncode != 0)


def serve() -> None:
    """Serve the site on the loopback until Ctrl-C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(HTML))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 8000), handler) as server:
        print("http://127.0.0.1:8000/ (Ctrl-C ends)")
        server.serve_forever()


def main() -> int:
    """Build; with --serve, serve the site too."""
    status = build()
    if status == 0 and "--serve" in sys.argv:
        serve()
    return status


if __name__ == "__main__":
    raise SystemExit(main())
