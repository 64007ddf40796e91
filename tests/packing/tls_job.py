"""A job with captures over TLS: a page in GBK, a revisit of it, a page without a recorded chain."""

from datetime import UTC, datetime
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificate

from nacre.archive.certificates import store_chain
from nacre.archive.record import CaptureFacts, capture_records
from nacre.core.capture import TlsFacts
from nacre.core.history import Original, RevisitProfile
from tests.archive.captures import counting_ids, sha1
from tests.archive.files import MemoryFiles, make_writer
from tests.packing.jobs import CHINESE, RUN, page

HOST = "news.test"
URL = f"https://{HOST}/zh/"
COPY = f"https://{HOST}/copy"
BARE = f"https://{HOST}/bare"
PLAIN = f"http://{HOST}/plain"


class TlsJob:
    """The job.

    Attributes:
        root: Its directory.
        roots: PEM file with the root of its server.
        chain: The certificate chain, DER.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "job"
        self.roots = folder / "tls-roots.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.roots)
        issued = authority.issue_cert(
            HOST,
            not_before=datetime(2026, 1, 1, tzinfo=UTC),
            not_after=datetime(2027, 1, 1, tzinfo=UTC),
        )
        self.chain = tuple(
            load_pem_x509_certificate(blob.bytes()).public_bytes(Encoding.DER)
            for blob in issued.cert_chain_pems
        )
        self._write()

    def _write(self) -> None:
        (self.root / "runs" / RUN / "archive").mkdir(parents=True)
        (self.root / "crawl.yaml").write_text(f"seeds: [{URL}]\n")
        tls = TlsFacts("TLSv1.3", "TLS_AES_128_GCM_SHA256", self.chain, "not trusted: x", HOST)
        ids = counting_ids()
        chain = store_chain(self.chain)
        seed = page(URL, CHINESE, tls=tls)
        first = capture_records(seed, CaptureFacts(is_seed=True, chain=chain.uri), ids)
        original = Original(URL, seed.began, first[0].id)
        profile = RevisitProfile("identical-payload-digest", original, sha1(CHINESE))
        again = page(COPY, CHINESE, 60, tls=tls)
        files = MemoryFiles()
        writer = make_writer(files)
        writer.write(first, chain=chain)
        facts = CaptureFacts(revisit=profile, chain=chain.uri)
        writer.write(capture_records(again, facts, ids), chain=chain)
        writer.write(capture_records(page(BARE, b"<p>bare", 5, tls=tls), CaptureFacts(), ids))
        writer.write(capture_records(page(PLAIN, b"<p>plain", 6), CaptureFacts(), ids))
        writer.rotate()
        folder = self.root / "runs" / RUN / "archive"
        (warc,) = files.save(folder)
        (folder / f"{warc.name.partition('.warc')[0]}.cdxj").write_bytes(bytes(files.data[1]))
