"""Public suffixes."""

import pytest

from nacre.fetch.suffix import is_public_suffix


@pytest.mark.parametrize("domain", ["org", "co.uk", "com.cn", "github.io", "test", "foo.ck"])
def test_suffixes(domain):
    assert is_public_suffix(domain)


@pytest.mark.parametrize("domain", ["site-a.test", "foo.co.uk", "x.github.io", "www.ck", ""])
def test_others(domain):
    assert not is_public_suffix(domain)
