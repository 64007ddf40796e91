from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.facts import CaptureFacts
from nacre.archive.notes import metadata_block, outlink_lines
from nacre.core.capture import TlsFacts
from nacre.core.crawluri import Hop, Outlink
from tests.archive.captures import make_capture


def test_a_seed_has_no_via_and_an_empty_path():
    block = metadata_block(make_capture(), CaptureFacts(is_seed=True, source="s"), b"")
    assert block == b"seed: \r\nhopsFromSeed: \r\nsourceTag: s\r\nfetchTimeMs: 12\r\n"


def test_every_fact_has_its_line():
    facts = CaptureFacts(
        via="http://e.test/",
        path="LL",
        force_fetch=True,
        charset="gbk",
        verdict="changed",
        annotations=["dol:3", "a\nb"],
    )
    capture = make_capture(tls=TlsFacts("TLSv1.3", "X", verified="self-signed", sni="e.test"))
    assert metadata_block(capture, facts, b"") == (
        b"via: http://e.test/\r\nhopsFromSeed: LL\r\nforce-fetch: \r\nfetchTimeMs: 12\r\n"
        b"charsetForLinkExtraction: gbk\r\nverdict: changed\r\nannotations: dol:3,a%0Ab\r\n"
        b"tlsVerified: self-signed\r\ntlsServerName: e.test\r\n"
    )


links = st.builds(Outlink, st.text(max_size=20), st.sampled_from(Hop), st.text(max_size=10))


@given(st.lists(links, min_size=1, max_size=5))
def test_one_line_an_outlink_whatever_is_in_it(outlinks):
    lines = outlink_lines(outlinks).split("\r\n")
    assert len(lines) == len(outlinks)
    assert all(line.startswith("outlink: ") and "\n" not in line for line in lines)
