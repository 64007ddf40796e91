import platform
import resource

from nacre.job.running.allocator import allow_many_files, keep_memory_at_hand


def test_glibc_takes_it_and_others_say_no():
    assert keep_memory_at_hand() == (platform.libc_ver()[0] == "glibc")


def test_open_files_up_to_the_hard_limit():
    limit = allow_many_files()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (limit, limit)
