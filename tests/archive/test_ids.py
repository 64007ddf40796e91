from nacre.archive.ids import RandomIds


def test_no_id_comes_twice():
    ids = RandomIds()
    given = [ids() for _ in range(1000)]
    assert {len(raw) for raw in given} == {16}
    assert len(set(given)) == 1000
