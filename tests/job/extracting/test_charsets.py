from nacre.job.extracting.charsets import HostCharsets


def test_a_host_is_as_its_pages_declare():
    hosts = HostCharsets()
    hosts.learn("http://a.test/1", "gbk", "detected")
    assert hosts.of("http://a.test/2") == ""
    hosts.learn("http://a.test/1", "gbk", "meta")
    assert hosts.of("http://a.test/2") == "gbk"
    assert (
        hosts.of("http://b.test/") == hosts.of("http://a.test:81/") == hosts.of("dns:a.test") == ""
    )


def test_a_host_that_went_over_to_utf8_is_forgotten():
    hosts = HostCharsets()
    for source in ("header", "meta", "xml", "bom"):
        hosts.learn("http://a.test/1", "gbk", source)
        assert hosts.of("http://a.test/") == "gbk"
        hosts.learn("http://a.test/1", "utf-8", source)
        assert hosts.of("http://a.test/") == ""


def test_the_hosts_met_last_are_remembered():
    hosts = HostCharsets(limit=2)
    for name in ("a", "b", "a", "c"):
        hosts.learn(f"http://{name}.test/", "gbk", "meta")
    assert [hosts.of(f"http://{name}.test/") for name in "abc"] == ["gbk", "", "gbk"]
