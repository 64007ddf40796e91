from nacre.console.settings.sheet_page import SheetNode, labels_of, sheet_tree
from nacre.console.settings.sheets import SheetPlace


def shown(nodes: tuple[SheetNode, ...]) -> list[object]:
    return [
        (node.label, node.place.prefix if node.place else "", shown(node.nodes))
        if node.nodes
        else node.label
        for node in nodes
    ]


def test_a_prefix_has_its_domain_host_and_path():
    for prefix, labels in (
        ("http://(org,example,www,)/a/b/", ("example.org", "www.example.org", "/a", "/b")),
        ("http://(org,example,", ("example.org", "*.example.org")),
        ("http://(org,example,)/", ("example.org",)),
        ("http://(uk,co,example,sub,:8080)/p", ("example.co.uk", "sub.example.co.uk:8080", "/p")),
        ("http://(127.0.0.1:8080)/", ("127.0.0.1", "127.0.0.1:8080")),
        ("http://([::1],)/x", ("[::1]", "/x")),
        ("http://(xn--fiqs8s,xn--fsqu00a,)/", ("xn--fsqu00a.xn--fiqs8s",)),
        ("http://(", ("*",)),
    ):
        assert labels_of(prefix) == labels, prefix


def test_places_fold_below_their_hosts_and_domains():
    prefixes = (
        "http://(org,example,", "http://(org,example,www,)/", "http://(org,example,www,)/a/b/",
        "http://(org,example,www,)/a/c/", "http://(net,alone,)/x/", "https://(org,example,www,)/",
    )  # fmt: skip
    tree = sheet_tree(SheetPlace(prefix, prefix, 0, (), ()) for prefix in prefixes)
    assert shown(tree) == [
        ("example.org", "", [
            "*.example.org",
            ("www.example.org", "http://(org,example,www,)/", [("/a", "", ["/b", "/c"])]),
            "https://(org,example,www,)/",
        ]),
        "alone.net/x",
    ]  # fmt: skip
    assert [node.places for node in tree] == [5, 1]
