"""Words on buttons in twelve languages, and dialogs of common products: data of behaviours.

The expressions are JavaScript's, without regard to case, and are tried on the text of one button.
"""

from typing import TypedDict

MORE_WORDS = (
    # English
    r"^(show|load|view|see|read|display) (\d+ )?(more|all)\b",
    r"^more( \w+)?$",
    r"^expand( all)?$",
    # German
    r"^(\d+ )?(mehr|weitere)( \S+){0,2}$",
    r"^alle( \S+)? (anzeigen|laden|zeigen)$",
    r"^aufklappen$",
    # French
    r"^(afficher|voir|charger|lire|montrer) (plus|tout|la suite)\b",
    r"^plus de \S+$",
    r"^en savoir plus$",
    # Spanish
    r"^(mostrar|ver|cargar|leer) (m[aá]s|todo)\b",
    r"^m[aá]s( \S+)?$",
    # Portuguese
    r"^(mostrar|ver|carregar|ler|exibir) (mais|tudo)\b",
    r"^mais( \S+)?$",
    # Italian
    r"^(mostra|vedi|carica|leggi|visualizza) (altr[oiae]|tutt[oiae]|di pi[uù])",
    r"^altro$",
    # Dutch
    r"^(toon|laad|bekijk|lees|meer) (meer|alles|tonen|laden|lezen|weergeven)\b",
    r"^meer$",
    # Polish
    r"^(pokaż|załaduj|zobacz|wczytaj|czytaj) (więcej|wszystkie|dalej)",
    r"^więcej$",
    r"^rozwiń$",
    # Russian
    r"^(показать|загрузить|смотреть|читать) (ещ[её]|больше|вс[её]|дал)",
    r"^ещ[её]$",
    r"^развернуть$",
    # Chinese
    r"^(点击|點擊)?(加载|载入|載入|查看|显示|顯示|阅读|閱讀|浏览|看)?更多.{0,4}$",
    r"^(展开|展開|查看|显示|顯示)(全部|全文|更多|内容|所有)?$",
    # Japanese
    r"^(もっと|さらに|続きを|すべて|全て)(見る|読む|表示|読み込む|表示する)?$",
    r"^もっと",
    # Korean
    r"^(더 ?보기|더보기|모두 ?보기|전체 ?보기|펼치기|더 불러오기)$",
)
"""What controls say that show more of the same page."""

REJECT_WORDS = (
    r"^(reject|decline|refuse|deny|disagree)( all| cookies| optional)*( cookies)?$",
    r"^only (necessary|essential)",
    r"^(necessary|essential)( cookies)? only$",
    r"^continue without (accepting|agreeing)",
    r"^(alle(s)? )?(cookies )?(ablehnen|verweigern)$",
    r"^nur (notwendige|erforderliche|essenzielle|technisch)",
    r"^ohne (einwilligung|zustimmung)",
    r"^(tout )?refuser( tout)?$",
    r"^continuer sans accepter",
    r"^je refuse$",
    r"^rechazar( todo| todas| cookies)*$",
    r"^solo (las )?necesarias$",
    r"^rejeitar( tudo| todos| cookies)*$",
    r"^recusar( tudo)?$",
    r"^apenas necess[aá]rios$",
    r"^rifiuta( tutto| tutti)?$",
    r"^continua senza accettare",
    r"^solo (i )?necessari$",
    r"^(alles )?(weigeren|afwijzen)( alles)?$",
    r"^alleen noodzakelijke",
    r"^odrzuć( wszystkie| wszystko)?$",
    r"^tylko niezbędne",
    r"^отклонить( вс[её])?$",
    r"^отказаться$",
    r"^только необходимые",
    r"^(全部)?(拒绝|拒絕)(全部|所有)?(cookies?)?$",
    r"^(仅|僅)(必要|接受必要)",
    r"^不同意$",
    r"^(すべて)?(拒否|拒否する|同意しない)$",
    r"^必要な(もの|cookie)のみ",
    r"^(모두 )?거부(하기)?$",
    r"^동의하지 않음$",
    r"^필수(만| 쿠키만)",
)
"""What buttons say that refuse consent."""

ACCEPT_WORDS = (
    r"^(accept|allow|agree|i agree|got it|ok)( to)?( all| cookies)*( cookies)?$",
    r"^(alle(s)? )?(cookies )?(akzeptieren|zulassen|annehmen)$",
    r"^(ich )?(stimme zu|zustimmen|einverstanden)$",
    r"^(tout )?accepter( tout)?( et fermer)?$",
    r"^j'accepte$",
    r"^aceptar( todo| todas| cookies)*$",
    r"^aceitar( tudo| todos| cookies)*$",
    r"^accetta( tutto| tutti| e continua)?$",
    r"^(alles |alle )?(accepteren|toestaan|akkoord)( alles)?$",
    r"^(akceptuj|akceptuję|zgadzam się)( wszystkie)?$",
    r"^принять( вс[её])?$",
    r"^согласен$",
    r"^(全部)?(接受|同意|允许|允許)(全部|所有)?(cookies?)?$",
    r"^(すべて)?(同意|同意する|許可|受け入れる)$",
    r"^(모두 )?(동의|허용|수락)(하기|함)?$",
)
"""What buttons say that give consent."""


class ConsentDialog(TypedDict):
    """A dialog of a product, as selectors; of a list the first that is visible is taken.

    Attributes:
        name: Name of the product.
        dialog: Selector of the dialog itself.
        reject: Selector of what refuses consent.
        agree: Selector of what gives it.
    """

    name: str
    dialog: str
    reject: str
    agree: str


CONSENT_DIALOGS: tuple[ConsentDialog, ...] = (
    {
        "name": "OneTrust",
        "dialog": "#onetrust-banner-sdk, #onetrust-pc-sdk",
        "reject": "#onetrust-reject-all-handler, .ot-pc-refuse-all-handler",
        "agree": "#onetrust-accept-btn-handler, #accept-recommended-btn-handler",
    },
    {
        "name": "Cookiebot",
        "dialog": "#CybotCookiebotDialog",
        "reject": "#CybotCookiebotDialogBodyButtonDecline, "
        "#CybotCookiebotDialogBodyLevelButtonLevelOptinDeclineAll",
        "agree": "#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll, "
        "#CybotCookiebotDialogBodyButtonAccept",
    },
    {
        "name": "Didomi",
        "dialog": "#didomi-notice, #didomi-popup, #didomi-host",
        "reject": "#didomi-notice-disagree-button, .didomi-continue-without-agreeing",
        "agree": "#didomi-notice-agree-button",
    },
    {
        "name": "Usercentrics",
        "dialog": "#usercentrics-root, #usercentrics-cmp-ui, [data-testid=uc-default-banner], "
        "[data-testid=uc-app-container], #uc-main-dialog",
        "reject": "[data-testid=uc-deny-all-button], button#deny, [data-action-type=deny]",
        "agree": "[data-testid=uc-accept-all-button], button#accept, [data-action-type=accept]",
    },
    {
        "name": "Quantcast",
        "dialog": ".qc-cmp2-container, #qc-cmp2-ui",
        "reject": ".qc-cmp2-summary-buttons button[mode=secondary]:not(#more-options-btn), "
        "#disagree-btn, .qc-cmp2-close-icon",
        "agree": ".qc-cmp2-summary-buttons button[mode=primary], #accept-btn",
    },
)
"""Dialogs of products that many sites use. A host of a shadow root may have no size."""
