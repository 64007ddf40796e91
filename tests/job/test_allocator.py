import platform

from nacre.job.allocator import keep_memory_at_hand


def test_glibc_takes_it_and_others_say_no():
    assert keep_memory_at_hand() == (platform.libc_ver()[0] == "glibc")
