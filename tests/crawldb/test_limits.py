"""Limits by domain: which bucket each line is for."""

from nacre.crawldb.limits import DomainLimit, limits_by_bucket, read_limits
from nacre.crawldb.row import bucket_of, bucket_of_domain, bucket_of_host


def test_a_line_goes_to_the_bucket_of_the_urls_of_its_domain():
    text = "例子.test\t1\nexample.co.uk\t2\t3\nexample.co.uk\t4\nxn--fsqu00a.xn--0zwm56d\t5\n"
    found = limits_by_bucket(read_limits(text), 64)
    assert sum(map(len, found.values())) == 4
    own = found[bucket_of("http://www.books.example.co.uk/书", 64)]
    assert [one for one in own if one.domain == "example.co.uk"] == [
        DomainLimit("example.co.uk", 2, 3),
        DomainLimit("example.co.uk", 4),
    ], "the last one counts, so that their order stays"
    assert limits_by_bucket([], 64) == {}


def test_the_bucket_of_a_registered_domain_is_that_of_its_hosts():
    for name in ("example.org", "www.example.org", "a.b.example.org"):
        assert bucket_of_host(name, 4096) == bucket_of_domain("example.org", 4096)
