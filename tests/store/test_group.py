"""The open group: what it holds, in key order when asked."""

from hypothesis import given
from hypothesis import strategies as st

from nacre.store.files import FileKind, FileRow, OpenFile
from nacre.store.group import Group

KEY = st.binary(min_size=1, max_size=2)


@given(rounds=st.lists(st.lists(KEY, max_size=90), max_size=4), start=KEY, stop=st.none() | KEY)
def test_changes_come_in_key_order_however_often_they_are_asked_for(rounds, start, stop):
    group = Group()
    changes = group.rows["queue"]
    for number, keys in enumerate(rounds):
        changes.update(dict.fromkeys(keys, b"%d" % number))
        wanted = [key for key in changes if key >= start and (stop is None or key < stop)]
        assert group.between("queue", start, stop) == [(k, changes[k]) for k in sorted(wanted)]


def test_a_group_is_empty_until_something_waits_in_it():
    def state(group):
        return group.empty, group.touches_files

    group = Group()
    assert state(group) == (True, False)
    group.visits = 1
    assert state(group) == (False, False)
    group = Group()
    group.closing.append(OpenFile(1, FileRow(FileKind.LOG, "a", "a"), 3))
    assert state(group) == (False, True)
