"""What pages in a browser must show: a thin site, exact bytes, and nothing around the proxy.

`python -m bench.browser_shows [thin] [exact] [around]`; without a name all three. A site of ten
pages of docsify is served over TLS, compressed and chunked, by a server that keeps what it sent.

- `thin`: `nacre crawl https://127.0.0.1:8443/docs/` has the Markdown of all ten pages, and the text
  of each in `urn:text:`; with `--browser never` it has none of it.
- `exact`: the block of each response is what the server sent, and five other programs (pywb,
  cdxj-indexer, warcio, fastwarc, wacz) find nothing wrong with the archive.
- `around`: the crawl under `strace -f -e connect,sendto`: its browser connects to nothing but its
  own loopback, although a page tries WebRTC, names, and addresses. Skipped without strace.

The exit code is 1 if one of them fails. Needs a browser, docsify of npm, and the judges.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.thin_site import PAGES, ThinSite, thin_site
from nacre.archive.check import Checker
from nacre.archive.reader import WarcReader
from tests.crawl.replay import judge, replaying

_CALL = re.compile(r"(?P<thread>\d+<(?P<name>[^>]*)>)\s+(?P<call>connect|sendto)\((?P<rest>.*)")
_RESUMED = re.compile(r"(\d+<[^>]*>)\s+<\.\.\. \w+ resumed>(.*)")
_FAMILY = re.compile(r"sa_family=(AF_\w+)")
_ADDRESS = re.compile(r"(?:inet_addr\(\"|inet_pton\(AF_INET6, \")([^\"]+)")
_ERROR = re.compile(r"= -1 (E\w+)")
_HERE = ("AF_UNIX", "AF_NETLINK", "127.", "::1", "a connected socket")
_OURS = ("python", "nacre")
"""Beginnings of the names of threads of the crawler; all others are of the browser."""


def crawl(site: ThinSite, job: Path, *more: str, before: tuple[str, ...] = ()) -> str:
    """Crawl a site; return what was printed."""
    command = [
        *before, sys.executable, "-m", "nacre", "crawl", site.url, "--out", str(job), "--delay",
        "0", "--contact", "a@b.test", *more,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
    return done.stdout


def warcs_of(job: Path) -> list[Path]:
    """Return the WARC files of a job."""
    return sorted(job.glob("runs/*/archive/*.warc.gz"))


def records_of(job: Path) -> Iterator[tuple[dict[str, str], bytes]]:
    """Yield the fields and the block of each record of a job."""
    for path in warcs_of(job):
        with path.open("rb") as file:
            for entry in WarcReader(file):
                yield dict(entry.fields), b"".join(iter(entry.read, b""))


def show_thin(site: ThinSite, folder: Path) -> Iterator[tuple[bool, str]]:
    """Yield whether each part of the thin site is there, and a line about it."""
    for use in ("auto", "never"):
        job = folder / f"thin-{use}"
        crawl(site, job, *(["--browser", "never"] if use == "never" else []))
        files, texts = set(), ""
        for fields, block in records_of(job):
            target = fields.get("WARC-Target-URI", "")
            if fields["WARC-Type"] == "response" and target.endswith(".md"):
                files.add(target.rpartition("/")[2])
            if target.startswith("urn:text:"):
                texts += block.decode()
        found = sum(name in files for name in PAGES)
        shown = sum(sentence in texts for sentence in PAGES.values())
        wanted = len(PAGES) if use == "auto" else 0
        yield (
            found == shown == wanted,
            f"--browser {use}: Markdown of {found} of {len(PAGES)} pages captured, "
            f"text of {shown} of {len(PAGES)} in urn:text:",
        )


def show_exact(site: ThinSite, folder: Path) -> Iterator[tuple[bool, str]]:
    """Yield whether the archive has what the server sent, and what each judge says."""
    job = folder / "exact"
    crawl(site, job, "--browser", "always")
    equal, kinds, other = 0, Counter[str](), list[str]()
    for fields, block in records_of(job):
        target = fields.get("WARC-Target-URI", "")
        if fields["WARC-Type"] == "response" and target.startswith(site.origin):
            path = target.removeprefix(site.origin)
            if block in site.sent.get(path, ()):
                equal += 1
                kinds[site.kind_of(path)] += 1
            else:
                other.append(path)
    how = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    yield (
        equal > len(PAGES) and not other,
        f"{equal} of {equal + len(other)} responses are as sent ({how}) {' '.join(other)}".rstrip(),
    )
    yield from _own_check(job)
    yield from _judgements(site, job, folder)


def _own_check(job: Path) -> Iterator[tuple[bool, str]]:
    checker = Checker()
    for path in warcs_of(job):
        checker.file(path, _index_of(path))
    findings = [finding for finding in checker.finish() if finding.severity != "note"]
    yield not findings, f"nacre archive check: {len(findings)} findings"


def _index_of(warc: Path) -> Path:
    return warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj")


def _judgements(site: ThinSite, job: Path, folder: Path) -> Iterator[tuple[bool, str]]:
    warcs = warcs_of(job)
    chunked = sum(
        fields["WARC-Type"] == "response" and b"\nTransfer-Encoding: chunked" in block
        for fields, block in records_of(job)
    )
    told = judge("warcio", "check", "-v", *map(str, warcs)).stdout
    failed = Counter(re.findall(r"\w+ digest failed", told))
    yield (
        set(failed) <= {"payload digest failed"} and failed.total() == chunked,
        f"warcio: nothing but the payload digests of {failed.total()} chunked responses, "
        "which it computes with the chunks",
    )
    codes = [judge("fastwarc", "check", str(path)).returncode for path in warcs]
    yield not any(codes), f"fastwarc: all digests of {len(warcs)} files are right"
    same = [
        judge("cdxj-indexer", "--sort", "--post-append", str(path)).stdout
        == _index_of(path).read_text()
        for path in warcs
    ]
    yield all(same), f"cdxj-indexer: the index of {sum(same)} of {len(warcs)} files is the same"
    package = folder / "exact.wacz"
    words = ("archive", str(job), "pack", "--wacz", str(package))
    subprocess.run([sys.executable, "-m", "nacre", *words], check=True, capture_output=True)
    told = judge("wacz", "validate", "-f", str(package)).stdout
    yield "Validation succeeded" in told, f"wacz: {told.strip().splitlines()[-1]}"
    yield _pywb(site, job, folder)


def _pywb(site: ThinSite, job: Path, folder: Path) -> tuple[bool, str]:
    (folder / "pywb").mkdir()
    right = total = 0
    with replaying(warcs_of(job), folder / "pywb") as pywb:
        for fields, _block in records_of(job):
            target = fields.get("WARC-Target-URI", "")
            path = target.removeprefix(site.origin)
            if fields["WARC-Type"] == "response" and path in site.files:
                total += 1
                right += pywb.get(target, fields["WARC-Date"]).body == site.files[path]
    return total > len(PAGES) and right == total, f"pywb: {right} of {total} bodies are the files"


def show_around(site: ThinSite, folder: Path) -> Iterator[tuple[bool, str]]:
    """Yield whether the browser of a crawl connected to anything around the proxy."""
    if shutil.which("strace") is None:
        yield True, "1 skipped: strace is not installed (apt-get install strace)"
        return
    log = folder / "strace.txt"
    trace = ("strace", "-f", "-Y", "--seccomp-bpf", "-e", "trace=connect,sendto", "-o", str(log))
    crawl(site, folder / "around", "--browser", "always", before=trace)
    calls, crawler = Counter[str](), 0
    reached = list[str]()
    for name, call, rest in _traced(log.read_text("utf-8", "replace")):
        if name.startswith(_OURS):
            crawler += 1
            continue
        place, error = _place_of(rest), _ERROR.search(rest)
        has_no_route = error is not None and error[1] == "ENETUNREACH"
        calls[f"{call} {place}{' (no route)' if has_no_route else ''}"] += 1
        if not place.startswith(_HERE) and not has_no_route:
            reached.append(f"{name}: {call} {rest[:100]}")
    for line, count in sorted(calls.items()):
        yield True, f"browser: {count:>5} {line}"
    yield crawler > 0, f"crawler: {crawler:>5} connect or sendto"
    yield not reached and bool(calls), f"calls of the browser that reached others: {len(reached)}"
    yield not site.visitors, f"packets at a listener that its page calls: {len(site.visitors)}"
    for line in reached:
        yield False, line


def _traced(log: str) -> Iterator[tuple[str, str, str]]:
    """Yield the thread's name, the call, and its arguments with the result, of a log of strace."""
    unfinished: dict[str, tuple[str, str, str]] = {}
    for line in log.splitlines():
        resumed = _RESUMED.match(line)
        if resumed is not None and resumed[1] in unfinished:
            name, call, rest = unfinished.pop(resumed[1])
            yield name, call, rest + resumed[2]
            continue
        match = _CALL.match(line)
        if match is None:
            continue
        if match["rest"].endswith("<unfinished ...>"):
            unfinished[match["thread"]] = match["name"], match["call"], match["rest"]
        else:
            yield match["name"], match["call"], match["rest"]
    yield from unfinished.values()


def _place_of(arguments: str) -> str:
    """Return where a call goes: the address, or the family of the socket."""
    address = _ADDRESS.search(arguments)
    if address is not None:
        return address[1]
    family = _FAMILY.search(arguments)
    return family[1] if family is not None else "a connected socket"


_Show = Callable[[ThinSite, Path], Iterator[tuple[bool, str]]]
SHOWS: dict[str, _Show] = {"thin": show_thin, "exact": show_exact, "around": show_around}


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shows", nargs="*", choices=[*SHOWS, []], help="default: all")
    parser.add_argument("--port", type=int, default=8443, help="port of the site")
    wishes = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder, thin_site(Path(folder), wishes.port) as site:
        for name in wishes.shows or SHOWS:
            print(f"{name}: {site.url}", flush=True)
            for is_right, line in SHOWS[name](site, Path(folder)):
                print(f"  {'ok' if is_right else 'FAILED':<7}{line}", flush=True)
                failed |= not is_right
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
