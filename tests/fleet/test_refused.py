import pytest

from nacre.errors import ConfigError
from nacre.fleet.passwords import PasswordChecker, require_good
from nacre.fleet.refused import NUMBER, SHORTEST, refused_passwords, why_refused


def test_asvs_6_2_4_ten_thousand_are_refused_that_the_length_would_allow():
    assert len(refused_passwords()) == NUMBER
    assert min(map(len, refused_passwords())) >= SHORTEST


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("password1234", "tried first"),
        ("P@ssw0rd1234", "tried first"),
        ("Summer2026!!", "tried first"),
        ("woaini5201314", "tried first"),
        ("abcabcabcabcab", "over and over"),
        ("我爱你我爱你我爱你我爱你", "over and over"),
        ("1qaz2wsx3edc", "keyboard"),
        ("lkjhgfdsamnbv", "keyboard"),
        ("annaannaanna12", "over and over|name"),
        ("nacre-anna-2026", "name"),
        ("correct horse battery staple", ""),
        ("春眠不觉晓处处闻啼鸟夜来", ""),
        ("gC7#kkP0q!mz", ""),
    ],
)
def test_what_others_would_guess_is_refused(password: str, reason: str):
    found = why_refused(password, ("anna",))
    assert any(part in found for part in reason.split("|")) if reason else not found


@pytest.mark.parametrize("length", [11, 129])
def test_asvs_6_2_1_a_password_has_12_to_128_characters(length: int):
    word = ("correct horse battery staple " * 5)[:length]
    with pytest.raises(ConfigError, match=f"this one {length}"):
        require_good(word, "anna")


def test_asvs_6_2_8_each_character_counts_as_it_was_typed():
    checker = PasswordChecker(1, 64)
    kept = checker.hash("Correct horse battery ")
    assert checker._verify(kept, "Correct horse battery ")
    for other in ("correct horse battery ", "Correct horse battery", ""):
        assert not checker._verify(kept, other)


def test_asvs_11_4_passwords_are_hashed_by_argon2id():
    checker = PasswordChecker()
    kept = checker.hash("correct horse battery")
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert kept != checker.hash("correct horse battery")
    assert not checker.is_outdated(kept)
    assert checker.is_outdated(kept.replace("t=3", "t=2"))
    assert not checker._verify("no hash", "x")
