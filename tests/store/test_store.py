"""Rows by family and key: the overlay, scans, opening and refusing.

The open group: what it holds, in key order when asked.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rocksdict import Options, Rdict

from nacre.errors import StorageError
from nacre.store.files import FileKind, FileRow, OpenFile
from nacre.store.store import CommitGroup, NewKeyFilter, Store
from tests.examples import examples
from tests.store.memory import MemoryEngine

KEYS = st.binary(min_size=1, max_size=2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["put", "put_all"]), KEYS, st.binary(max_size=3)),
        st.tuples(st.just("delete"), KEYS, st.just(b"")),
        st.tuples(st.sampled_from(["seal", "settle", "scan"]), st.just(b""), st.just(b"")),
    ),
    max_size=40,
)


@given(steps=STEPS, start=st.binary(max_size=2), stop=st.none() | KEYS, limit=st.integers(0, 4))
@examples(300)
def test_reads_see_what_a_plain_dictionary_holds(steps, start, stop, limit):
    store, model, sealed = Store(MemoryEngine()), {}, None
    for step, key, value in steps:
        if step == "put":
            store.put("queue", key, value)
            model[key] = value
        elif step == "put_all":
            store.put_all("queue", {key: value, b"both": value})
            model.update({key: value, b"both": value})
        elif step == "delete":
            store.delete("queue", key)
            model.pop(key, None)
        elif step == "scan":
            assert dict(store.scan("queue", b"")) == model
        elif step == "seal" and sealed is None:
            sealed = store.seal()
        elif step == "settle" and sealed is not None:
            store.engine.write(sealed.rows)
            store.settle()
            sealed = None
    rows = [(k, v) for k, v in sorted(model.items()) if k >= start and (stop is None or k < stop)]
    assert list(store.scan("queue", start, stop, limit)) == (rows[:limit] if limit else rows)
    keys = [*model, b"absent", *model]
    assert store.get_many("queue", keys) == [model.get(key) for key in keys]
    assert [store.get("queue", key) for key in keys] == [model.get(key) for key in keys]
    if stop is not None:
        within = [key for key, _ in rows]
        assert store.first_key("queue", start, stop) == min(within, default=None)
        assert store.last_key("queue", start, stop) == max(within, default=None)


@pytest.mark.parametrize("committed", [True, False])
def test_the_greatest_key_before_another(tmp_path, committed):
    with Store.open(str(tmp_path / "store")) as store:
        for name in (b"a:1", b"b:1", b"b:\xe4\xb9\xa6", b"c:1"):
            store.put("scope", name, b"")
        if committed:
            store.commit()
        assert store.last_key("scope", b"b:", b"b;") == b"b:\xe4\xb9\xa6"
        assert store.last_key("scope", b"b:", b"b:1\0") == b"b:1"
        assert store.last_key("scope", b"b:", b"b:1") is None
        assert store.last_key("scope", b"", b"a") is None
        assert store.last_key("scope", b"", b"\xff") == b"c:1"
        assert store.last_key("queue", b"", b"\xff") is None
        assert store.first_key("scope", b"b:2", b"b;") == b"b:\xe4\xb9\xa6"


def test_a_scan_shows_the_rows_of_its_beginning(tmp_path):
    with Store.open(str(tmp_path / "store")) as store:
        for n in range(10):
            store.put("queue", b"%d" % n, b"old")
        store.commit()
        scan = store.scan("queue", b"")
        assert next(scan) == (b"0", b"old")
        store.put("queue", b"5", b"new")
        store.delete("queue", b"6")
        store.commit()
        assert [value for _, value in scan] == [b"old"] * 9


def test_rows_survive_a_close_only_when_committed(tmp_path):
    path = str(tmp_path / "store")
    with Store.open(path) as store:
        store.put("seen", b"a", b"1")
        store.set_counter("ordinal", 17)
        store.commit()
        store.put("seen", b"b", b"2")
    with Store.open(path) as store:
        assert store.get_many("seen", [b"a", b"b"]) == [b"1", None]
        assert (store.counter("ordinal"), store.counter("other")) == (17, 0)


def test_closing_with_a_scan_half_done_frees_the_lock(tmp_path):
    path = str(tmp_path / "store")
    store = Store.open(path)
    store.put("seen", b"a", b"1")
    store.commit()
    scan = store.scan("seen", b"")
    next(scan)
    store.close()
    with Store.open(path) as again:
        assert again.get("seen", b"a") == b"1"


def test_a_store_in_use_is_refused_with_the_process_but_can_be_read(tmp_path):
    path = str(tmp_path / "store")
    with Store.open(path) as store:
        store.put("seen", b"a", b"1")
        store.commit()
        with pytest.raises(StorageError, match=r"the job is running in process \d+ \("):
            Store.open(path)
        with Store.open(path, read_only=True) as reader:
            assert reader.get("seen", b"a") == b"1"
    with pytest.raises(StorageError, match="there is no store"):
        Store.open(str(tmp_path / "none"), read_only=True)


def test_an_unknown_family_means_a_newer_store(tmp_path):
    path = str(tmp_path / "store")
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    database = Rdict(path, options, {"default": options})
    database.create_column_family("future2", options)
    database.close()
    del database
    with pytest.raises(StorageError, match=r"unknown families future2.*newer Nacre"):
        Store.open(path)


KEY = st.binary(min_size=1, max_size=2)


@given(rounds=st.lists(st.lists(KEY, max_size=90), max_size=4), start=KEY, stop=st.none() | KEY)
def test_changes_come_in_key_order_however_often_they_are_asked_for(rounds, start, stop):
    group = CommitGroup()
    changes = group.rows["queue"]
    for number, keys in enumerate(rounds):
        changes.update(dict.fromkeys(keys, b"%d" % number))
        wanted = [key for key in changes if key >= start and (stop is None or key < stop)]
        assert group.between("queue", start, stop) == [(k, changes[k]) for k in sorted(wanted)]


def test_a_group_is_empty_until_something_waits_in_it():
    def state(group):
        return group.empty, group.touches_files

    group = CommitGroup()
    assert state(group) == (True, False)
    group.visits = 1
    assert state(group) == (False, False)
    group = CommitGroup()
    group.closing.append(OpenFile(1, FileRow(FileKind.LOG, "a", "a"), 3))
    assert state(group) == (False, True)


KEYS_NOVELTY = st.sets(st.binary(min_size=7, max_size=21), max_size=50)


@settings(max_examples=20)  # 2 MB each
@given(KEYS_NOVELTY)
def test_what_was_put_is_never_new(keys: set[bytes]) -> None:
    novelty = NewKeyFilter(is_empty=True)
    for key in keys:
        novelty.add(key)
    assert not any(novelty.is_new(key) for key in keys)


def test_what_was_not_put_is_new() -> None:
    novelty = NewKeyFilter(is_empty=True)
    novelty.add(b"hostabc rest")
    assert novelty.is_new(b"hostabd rest")
    assert novelty.is_new(b"hostxbc rest")
    assert not novelty.is_new(b"h0stabc else")


def test_nothing_is_known_of_a_family_with_rows() -> None:
    novelty = NewKeyFilter(is_empty=False)
    novelty.add(b"hostabc rest")
    assert not novelty.is_new(b"another key")
