"""CPU of a request with and without a signature: `python -m bench.signing [REQUESTS]`.

Five pairs take turns, so that a slow moment meets both. A server in another process answers; only
the CPU of the fetcher counts.
"""

import asyncio
import multiprocessing
import statistics
import sys
import time
from multiprocessing.connection import Connection
from typing import Final

import uvloop

from nacre.config.secret import Secret
from nacre.fetch.http import HttpFetcher
from nacre.fetch.identity import IdentitySettings, RequestSigner, make_signer
from nacre.fetch.identity_keys import format_keys, make_key
from nacre.fetch.request import FetchRequest
from nacre.fetch.settings import FetchSettings
from nacre.machine.clock import SystemClock

PAIRS: Final = 5
_REPLY: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"


class _Open:
    """The guard of a fetcher that may connect to loopback."""

    def refusal(self, _address: str) -> str:
        return ""


def _serve(pipe: Connection) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(_REPLY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(main())


async def measure(port: int, requests: int, signer: RequestSigner | None) -> float:
    """Return the CPU of a request, in µs."""
    fetcher, settings = HttpFetcher(SystemClock(), _Open()), FetchSettings()
    urls = [f"http://127.0.0.1:{port}/a/page/{number}.html" for number in range(requests)]
    begin = time.process_time()
    for url in urls:
        result = await fetcher.fetch(FetchRequest(url, ("127.0.0.1",), signer=signer), settings)
        if result.capture is None:
            raise RuntimeError(result.error)
        result.capture.body.close()
    seconds = time.process_time() - begin
    await fetcher.close()
    return seconds / requests * 1e6


def main() -> None:
    """Print each pair, and the median of the differences."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    mine, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    server.start()
    key = Secret(format_keys([make_key()]), {"env": "NACRE_KEY"})
    settings = IdentitySettings(key=key, directory="https://crawler.test")
    signer = make_signer(settings, time.time)
    try:
        port = mine.recv()
        uvloop.run(measure(port, requests // 4, signer))
        pairs = [
            (
                uvloop.run(measure(port, requests, None)),
                uvloop.run(measure(port, requests, signer)),
            )
            for _ in range(PAIRS)
        ]
    finally:
        server.terminate()
        server.join()
    for plain, signed in pairs:
        print(f"unsigned {plain:6.1f} µs, signed {signed:6.1f} µs: {signed - plain:+5.1f} µs")
    print(
        f"median {statistics.median(signed - plain for plain, signed in pairs):+.1f} µs a request"
    )


if __name__ == "__main__":
    main()
