import ssl
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.certificates import CHAIN_URN, chain_uri, read_chain, store_chain

CHAINS = st.lists(st.binary(min_size=1, max_size=400), max_size=5).map(tuple)


@given(CHAINS)
def test_a_chain_is_read_as_it_was_stored(chain):
    stored = store_chain(chain)
    assert read_chain(stored.block) == chain
    assert stored.uri == CHAIN_URN + sha256(stored.block).hexdigest() == chain_uri(stored.block)


@given(CHAINS.filter(bool))
def test_its_text_is_that_of_the_standard_library(chain):
    text = "".join(ssl.DER_cert_to_PEM_cert(der) for der in chain)
    assert store_chain(chain).block.decode() == text


@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(block):
    assert isinstance(read_chain(block), tuple)


def test_damaged_certificates_are_left_out():
    block = store_chain((b"a", b"b")).block
    assert read_chain(block.replace(b"YQ==", b"Y!==")) == (b"b",)
    assert read_chain(block[:-10]) == (b"a",)
    assert read_chain(b"") == ()
