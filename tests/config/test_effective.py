from nacre.config.effective import Effective, fixed


def test_what_is_made_of_members_is_made_once_for_each_distinct_one():
    one, two = object(), object()
    made: list[object] = []

    def make(value: object) -> list[object]:
        made.append(value)
        return [value]

    effective = Effective((one, two, one))
    derived = effective.then(make)
    assert made == [one, two]
    assert derived[0] is derived[2]
    assert effective.add(two) == 3
    assert derived[3] is derived[1]
    assert made == [one, two]


def test_new_members_reach_what_is_made_of_them_and_those_that_watch():
    effective = fixed("a")
    upper = effective.then(str.upper)
    twice = upper.then(lambda text: text * 2)
    seen: list[str] = []
    twice.watch(lambda: seen.append(twice[0]))
    effective.add("b")
    assert twice == ["AA", "BB"]
    assert seen == []
    effective.replace(["c", "b"])
    assert twice == ["CC", "BB"]
    assert seen == ["CC"]


def test_what_stays_the_same_object_is_not_made_again():
    kept = object()
    effective = Effective((kept, object()))
    derived = effective.then(lambda value: [value])
    before = derived[0]
    effective.replace((kept, object()))
    assert derived[0] is before
