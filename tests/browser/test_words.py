"""Words on buttons, in twelve languages."""

import re
from collections.abc import Sequence

import pytest

from nacre.browser.words import ACCEPT_WORDS, MORE_WORDS, REJECT_WORDS


def is_meant(words: Sequence[str], label: str) -> bool:
    """As JavaScript tries them: `\\b` knows ASCII alone."""
    return any(re.search(word, label.lower(), re.ASCII) for word in words)


MORE = """Show more|Load more comments|View all|See 12 more|Read more|More|Expand all
Mehr anzeigen|Mehr laden|Weitere Artikel laden|Alle anzeigen|Mehr lesen|Mehr
Afficher plus|Voir plus|Charger plus|Lire la suite|Voir tout|Plus de commentaires
Mostrar más|Ver más|Cargar más|Ver todo|Leer más
Mostrar mais|Ver mais|Carregar mais comentários|Ler mais|Ver tudo
Mostra altro|Carica altri|Leggi di più|Vedi tutti|Mostra tutto
Toon meer|Meer laden|Meer tonen|Lees meer|Bekijk alles
Pokaż więcej|Załaduj więcej|Zobacz wszystkie|Czytaj dalej|Rozwiń
Показать ещё|Загрузить еще|Показать все|Читать далее|Ещё
加载更多|查看更多|更多|展开|展开全文|显示全部|点击加载更多|顯示更多|载入更多|更多评论
もっと見る|続きを読む|すべて表示|さらに表示|もっと読む
더 보기|더보기|모두 보기|펼치기"""

NOT_MORE = """Learn about us|Morecambe|Furthermore|Remember me|Nevermore!|Plus|Buy more storage
Mehrwertsteuer|Alle Rechte|Log out|Mastermind|Masuria|不同意|无更多内容可以显示在这里|关于我们
Показания|もちろん|더블|Alle akzeptieren|Submit|Delete all|Nachricht senden"""

REJECT = """Reject all
Decline|Refuse all cookies|Only necessary cookies|Necessary cookies only|Disagree
Continue without accepting|Alle ablehnen|Ablehnen|Nur notwendige Cookies|Tout refuser|Refuser
Continuer sans accepter|Rechazar todo|Rechazar|Rejeitar tudo|Recusar|Rifiuta tutto|Rifiuta
Alles weigeren|Weigeren|Odrzuć wszystkie|Отклонить все|Отклонить|拒绝|全部拒绝|拒绝所有|不同意
拒否|すべて拒否|同意しない|모두 거부|거부하기"""

ACCEPT = """Accept all|I agree|Allow all cookies|Got it|OK|Alle akzeptieren|Zustimmen|Tout accepter
J'accepte|Aceptar todo|Aceitar todos|Accetta tutto|Alles accepteren|Akceptuj wszystkie
Принять все|同意|全部接受|接受所有|すべて同意|동의함|모두 동의"""


def labels(text: str) -> list[str]:
    return [label for line in text.splitlines() for label in line.split("|")]


@pytest.mark.parametrize("label", labels(MORE))
def test_more(label):
    assert is_meant(MORE_WORDS, label)


@pytest.mark.parametrize("label", [*labels(NOT_MORE), *labels(REJECT), *labels(ACCEPT)])
def test_not_more(label):
    assert not is_meant(MORE_WORDS, label)


@pytest.mark.parametrize("label", labels(REJECT))
def test_reject(label):
    assert is_meant(REJECT_WORDS, label)
    assert not is_meant(ACCEPT_WORDS, label)


@pytest.mark.parametrize("label", labels(ACCEPT))
def test_accept(label):
    assert is_meant(ACCEPT_WORDS, label)
    assert not is_meant(REJECT_WORDS, label)


@pytest.mark.parametrize("label", ["Settings", "Einstellungen", "设置", "Manage options", "Close"])
def test_neither(label):
    assert not is_meant((*REJECT_WORDS, *ACCEPT_WORDS), label)
