"""Kernels: limits that hold, files written and read, and what users may say as SQL."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from nacre.crawldb import kernels
from nacre.crawldb.kernels import (
    Kernel,
    KernelDamageError,
    KernelError,
    UserSqlError,
    parquet,
    quoted,
)
from nacre.crawldb.user_sql import check_expression


@pytest.fixture
def kernel(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "scratch").mkdir()
    with Kernel(
        100_000_000, scratch=str(tmp_path / "scratch"), directories=[str(tmp_path / "in")]
    ) as made:
        made.execute("create table pages as select * from (values ('a', 1), ('国家', 2)) t(key, n)")
        yield made


def test_a_query_is_written_in_its_order_and_read_again(kernel, tmp_path):
    path = str(tmp_path / "in" / "it's.parquet")
    written = kernel.write("select * from pages order by n desc", path)
    assert (written.path, written.rows) == (path, 2)
    assert written.bytes == (tmp_path / "in" / "it's.parquet").stat().st_size
    assert kernel.rows(f"select key from {parquet([path])}") == [("国家",), ("a",)]


def test_a_query_without_rows_is_written_with_its_columns(kernel, tmp_path):
    path = str(tmp_path / "in" / "none.parquet")
    assert kernel.write("select * from pages where false", path).rows == 0
    assert kernel.columns(f"from {parquet([path])}") == ["key", "n"]


def test_arrow_goes_in_and_out(kernel):
    kernel.load("copy", kernel.arrow("select * from pages"))
    assert kernel.value("select sum(n) from copy") == 3
    sizes = [batch.num_rows for batch in kernel.batches("from range(5000) t(i)", size=2048)]
    assert sum(sizes) == 5000
    assert len(sizes) > 1


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')",
        "copy pages to '/tmp/nacre-not-here.csv'",
        "attach '/tmp/nacre-not-here.db'",
        "set memory_limit = '9GB'",
        "set enable_external_access = true",
        "install httpfs",
        "load httpfs",
    ],
)
def test_nothing_outside_its_directories_is_touched_and_no_limit_is_changed(kernel, sql):
    with pytest.raises(KernelError):
        kernel.execute(sql)


def test_a_file_that_cannot_be_written_is_named(kernel, tmp_path):
    with pytest.raises(KernelError, match=r"missing/x\.parquet cannot be written"):
        kernel.write("from pages", str(tmp_path / "in" / "missing" / "x.parquet"))


@pytest.mark.parametrize("data", [b"PAR1 not really", b"", b"P"])
def test_a_damaged_file_is_an_error(kernel, tmp_path, data):
    path = tmp_path / "in" / "bad.parquet"
    path.write_bytes(data)
    with pytest.raises(KernelDamageError, match=r"bad\.parquet.*`storage check`"):
        kernel.rows(f"select * from {parquet([str(path)])}")


def test_of_many_files_the_damaged_one_is_named(kernel, tmp_path):
    """Bytes in the middle were changed, which no size shows."""
    paths = [tmp_path / "in" / f"it's {number}.parquet" for number in range(3)]
    for path in paths:
        kernel.write("select range as n, md5(range::VARCHAR) as t from range(2000)", str(path))
    data = bytearray(paths[1].read_bytes())
    data[100:4000] = bytes(3900)
    paths[1].write_bytes(data)
    query = f"select * from {parquet([str(path) for path in paths])}"
    made = str(tmp_path / "in" / "made.parquet")
    for ask in (kernel.rows, kernel.arrow, lambda sql: kernel.write(sql, made)):
        with pytest.raises(KernelDamageError, match=r"^[^,]*it's 1\.parquet is damaged"):
            ask(query)


def test_text_is_quoted():
    assert quoted("it's") == "'it''s'"


# ---- databases that are taken over


@pytest.fixture
def opened(monkeypatch):
    """The databases that were opened since the test began."""
    found = []
    connect = duckdb.connect

    def counted(*arguments, **more):
        found.append(connect(*arguments, **more))
        return found[-1]

    monkeypatch.setattr(duckdb, "connect", counted)
    monkeypatch.setattr(kernels, "_cache", type(kernels._cache)())
    yield found
    for one in found:
        one.close()


def test_a_kernel_takes_over_a_database_with_its_limits_and_nothing_in_it(opened, tmp_path):
    limits: dict[str, Any] = {
        "scratch": str(tmp_path), "directories": ["/dev"], "again": True
    }  # fmt: skip
    with Kernel(**limits) as first:
        first.execute("create or replace temp table pages as select 1 as n")
        first.execute("create temp view seen as from pages")
        first.execute("create temp macro twice(n) as (2 * n)")
        first.load("given", first.arrow("from pages"))
        first.write("from pages", str(tmp_path / "x.parquet"))
    with Kernel(**limits) as second:
        for name in ("pages", "seen", "given"):
            with pytest.raises(UserSqlError):
                check_expression(second, "n > 1", name)
    assert len(opened) == 1
    with Kernel(**limits) as third:
        assert third.value(f"select n from {parquet([str(tmp_path / 'x.parquet')])}") == 1
        with pytest.raises(KernelError, match="twice"):
            third.value("select twice(1)")
        with pytest.raises(KernelError, match="locked"):
            third.execute("set memory_limit = '9GB'")
        with pytest.raises(KernelError, match=r"disabled|Permission"):
            third.rows("from read_text('/etc/passwd')")


@pytest.mark.parametrize(
    "statement",
    ["create table pages (n INTEGER)", "create view x as select 1", "/* */ select 1", "select m"],
)
def test_a_database_in_which_something_may_be_left_is_not_taken_over(opened, statement):
    with Kernel(again=True) as first:
        try:
            first.execute(statement)
        except KernelError:
            assert statement == "select m"
    with Kernel(again=True) as second:
        second.execute("create temp table pages (n VARCHAR)")
    with Kernel(again=True):
        pass
    assert len(opened) == 2


def test_an_error_in_the_work_with_a_kernel_leaves_no_database(opened):
    with pytest.raises(ZeroDivisionError), Kernel(again=True):
        _ = 1 / 0
    with Kernel(again=True):
        pass
    assert len(opened) == 2


def test_other_limits_and_kernels_at_the_same_time_have_databases_of_their_own(opened, tmp_path):
    usual: dict[str, Any] = {"scratch": str(tmp_path), "again": True}
    spills = set()
    with Kernel(**usual) as one, Kernel(**usual) as two:
        for kernel in (one, two):
            kernel.execute("create temp table pages as select 1")
            spills.add(kernel.value("select current_setting('temp_directory')"))
    assert len(spills) == len(opened) == 2
    assert {str(Path(spill).parent) for spill in spills} == {str(tmp_path)}
    others: list[dict[str, Any]] = [
        {"memory": 10**8}, {"scratch": ""}, {"directories": ["/dev"]}, {"again": False}
    ]  # fmt: skip
    for other in others:
        before = len(opened)
        with Kernel(**usual | other):
            assert len(opened) == before + 1
    assert len(kernels._cache) == 2, "few are kept"


def test_a_kernel_may_be_closed_twice_while_another_one_has_its_database(opened):
    first = Kernel(again=True)
    first.close()
    with Kernel(again=True) as second:
        first.close()
        assert second.value("select 1") == 1
    assert len(opened) == 1


def test_a_forked_process_opens_its_own(opened):
    with Kernel(again=True):
        pass
    child = os.fork()
    if not child:
        with Kernel(again=True) as kernel:
            works = kernel.value("select 1") == 1
        os._exit(0 if works and len(opened) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    with Kernel(again=True):
        assert len(opened) == 1


def test_no_bar_is_drawn_however_python_was_started():
    program = """
from nacre.crawldb.kernels import Kernel
for _ in range(2):
    with Kernel(again=True) as kernel:
        print(kernel.value("select current_setting('enable_progress_bar')"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["False", "False"], "")


def peak() -> int:
    """Most bytes of memory that this process had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024


@pytest.mark.parametrize(
    "text",
    [
        "length(repeat('x', 2000000000)) > 0",
        "len(range(400000000)) > 0",
    ],
)
def test_a_check_of_an_expression_is_bounded_in_memory(kernel, text):
    kernel.execute("create temp table t as select 1 as n")
    limit = resource.getrlimit(resource.RLIMIT_AS)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = peak()
    check_expression(kernel, text, "t")
    assert peak() - before < 1_200_000_000
    assert resource.getrlimit(resource.RLIMIT_AS) == limit


def test_a_condition_is_bounded_in_memory(kernel):
    kernel.execute("create temp table t as select 'x' as url")
    limit = resource.getrlimit(resource.RLIMIT_AS)
    kernel.bound()
    with pytest.raises(UserSqlError, match=r"needs more than .* MB"):
        kernel.value("select count(*) from t where length(repeat(url, 2000000000)) > 0")
    assert resource.getrlimit(resource.RLIMIT_AS) == limit
    assert kernel.value("select count(*) from t where length(repeat(url, 1000)) > 0") == 1


def test_a_condition_is_bounded_in_time(kernel):
    kernel.bound(0.05)
    with pytest.raises(UserSqlError, match=r"longer than 0\.05 s"):
        kernel.value("select count(*) from range(1000000000) t(n) where sin(n) + cos(n) > 3")
    kernel.bound(0.0)
    assert kernel.value("select 1") == 1
