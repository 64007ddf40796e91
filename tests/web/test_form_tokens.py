import pytest

from nacre.web.gate import is_token, masked_token

TOKEN = "r7_Qm-4x"


def test_a_token_looks_different_in_every_answer_and_is_known_again():
    shown = {masked_token(TOKEN) for _ in range(20)}
    assert len(shown) == 20
    assert not any(TOKEN in one for one in shown)
    assert all(is_token(one, TOKEN) for one in shown)
    assert is_token(TOKEN, TOKEN)


@pytest.mark.parametrize(
    "sent", ["", ".", "r7_Qm-4", "00.00", "zz.zz", "00.0000", "é", "\ud800", "0011.0022"]
)
def test_what_is_no_token_is_refused(sent):
    assert not is_token(sent, TOKEN)
