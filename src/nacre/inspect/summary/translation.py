"""The words of the report of a run, in English and in Chinese.

English texts are their own names. `{}` stands for values, in the same order in both languages or by
number. A text that has no Chinese is an error, which the tests would find.
"""

from typing import Literal

Language = Literal["en", "zh"]

_ZH = {
    # Title and particulars
    "Crawl report: {}": "网站采集报告：{}",
    "Job": "任务",
    "Site": "采集网站",
    "Sites": "采集网站",
    "Period": "采集时间",
    "Run": "运行",
    "Ended": "采集状态",
    "Report made": "报告生成时间",
    "{} to {}": "{} 至 {}",
    "since {}": "{} 起，正在进行",
    "No. {} ({}), {}": "第 {} 次（{}），{}",
    "first, full": "首次采集，全量",
    "full": "全量采集",
    "incremental": "增量采集",
    "and {} more": "等，另有 {} 个",
    "Made by Nacre. Time zone: {}.": "由 Nacre 生成。时区：{}。",
    "none": "无",
    "all others": "其他合计",
    # How it ended
    "still running": "正在采集",
    "finished: everything in scope was tried": "已完成：范围内的网址均已尝试采集",
    "finished; left out: {}": "已完成；未采集：{}",
    "{} of endless places (traps.budget)": "{} 个无穷尽的网址（traps.budget）",
    "{} deleted by the operator": "{} 个被操作员删除",
    "{} due pages, because the budget is spent": "{} 个到期网页（预算已用完）",
    "{} that lead into what looks like a trap (recrawl.trap_share), and what lies behind them": (
        "{} 个似乎通向陷阱的网址（recrawl.trap_share），以及经由它们才能到达的网址"
    ),
    "{} that differ from known pages in idle parameters alone (recrawl.idle_parameters)": (
        "{} 个与已知网页只差无用参数的网址（recrawl.idle_parameters）"
    ),
    "{} too many hops from their seeds, and what lies behind them": (
        "{} 个距种子的跳转次数过多的网址，以及经由它们才能到达的网址"
    ),
    ", ": "，",
    "interrupted; it can be resumed": "已中断，可继续采集",
    "stopped by the operator; it can be resumed": "已由操作员停止，可继续采集",
    "stopped at a limit that was set": "达到设定的上限而停止",
    "stopped for lack of disk space; it can be resumed": "因磁盘空间不足而停止，可继续采集",
    "cut off; it can be resumed": "意外中断，可继续采集",
    # In short
    "Summary": "概要",
    "The run received {} ({}) from {}; web pages among them: {}.": (
        "本次从 {2} 个主机采集到文档 {0} 个，数据量 {1}，其中网页 {3} 个。"
    ),
    "By comparison with earlier runs, pages that changed: {}, unchanged: {}, gone: {}, new: {}.": (
        "与以往采集相比：变更网页 {} 个，未变网页 {} 个，失效网页 {} 个，新增网页 {} 个。"
    ),
    "Not compared with earlier runs: replies stored as new: {}, with known content: {}.": (
        "未与以往采集比较：作为新内容存入的响应 {} 个，内容已知的响应 {} 个。"
    ),
    "Everything that was requested was received.": "所请求的网址均已采集成功。",
    "Addresses that could not be fetched: {}; they are listed below with the reason.": (
        "未能采集的网址 {} 个，名单及原因见下文。"
    ),
    "Addresses still waiting: {}.": "尚待采集的网址 {} 个。",
    "The seed {} could not be fetched: {}.": "种子网址 {} 未能采集：{}。",
    # What was fetched
    "What was fetched": "采集结果",
    "Documents": "文档",
    "Of these, web pages (HTML)": "其中网页（HTML）",
    "Of these, of what looks like traps": "其中疑似陷阱的文档",
    "Not modified since the last visit": "自上次采集以来未修改",
    "Redirects": "重定向",
    "Error pages": "错误页面",
    "Data received": "接收数据量",
    "All replies, with robots.txt and guesses such as the icon": (
        "全部响应（含 robots.txt 和程序推测的网址，如网站图标）"
    ),
    "The tables count all replies.": "以下各表按全部响应计数。",
    "Replies": "响应数",
    "A full run is compared when the next incremental run reads its archive.": (
        "全量采集要等下一次增量采集读取其存档时才作比较。"
    ),
    "Time taken, without preparation and pauses": "采集用时（不含准备和暂停）",
    "Hosts": "主机",
    "Host": "主机名",
    "Addresses": "网址数",
    "Data": "数据量",
    "Media types": "媒体类型",
    "Type": "类型",
    "Kind": "说明",
    # Kinds of media types
    "web pages": "网页",
    "images": "图片",
    "style sheets": "样式表",
    "scripts": "脚本",
    "PDF documents": "PDF 文档",
    "office documents": "办公文档",
    "plain text": "纯文本",
    "data (JSON, XML)": "数据（JSON、XML）",
    "fonts": "字体",
    "audio": "音频",
    "video": "视频",
    "archives": "压缩包",
    "names of hosts (DNS)": "域名解析（DNS）",
    "not given by the server": "服务器未说明",
    "other": "其他",
    # What changed
    "What changed": "变更情况",
    "By comparison with the last version of each page that was visited again.": (
        "与各网页上一次保存的版本比较。"
    ),
    "Found": "结果",
    "Pages": "网页数",
    "new": "新增",
    "major changes": "内容变更较大",
    "minor changes": "内容变更较小",
    "only the template differs": "仅页面模板不同",
    "only noise differs (counters, dates, advertisements)": "仅计数、日期、广告等不同",
    "only markup differs": "仅代码不同",
    "unchanged": "未变更",
    "newly missing": "新发现失效",
    "gone for good": "永久删除",
    "replaced by an error page": "已变为错误页面",
    "moved": "已迁移",
    "still missing": "仍然失效",
    "dead links": "死链接",
    "no answer or refused": "无响应或被拒绝",
    "fetched twice, to distinguish noise from changes": "采集了两次，以区分噪声与变更",
    "New pages": "新增网页",
    "Changed pages": "变更网页",
    "Pages that are gone": "失效网页",
    "Address": "网址",
    "{} of {} are named": "共 {1} 个，列出 {0} 个",
    # What could not be fetched
    "What could not be fetched": "未采集到的内容",
    "URLs that the rules of the crawl exclude, and guessed URLs, are not counted here.": (
        "按采集规则排除的网址、程序推测的网址不计在内。"
    ),
    "Refused by robots.txt": "被 robots.txt 禁止",
    "Still waiting": "等待采集",
    "Reason": "原因",
    "Code": "代码",
    "Linked from": "来源网页",
    "By reason": "按原因统计",
    "The addresses": "网址名单",
    "seed": "种子网址",
    # What was saved
    "What was stored": "存档情况",
    "WARC files": "WARC 文件",
    "Size of the archive": "存档大小",
    "Stored as new": "新存入数据",
    "Known content, stored as references (revisit records)": "与已存内容相同，仅存引用",
    "Data that was not stored again": "去重节省数据量",
    "Storage mode": "保存方式",
    "every reply in full (strict)": "完整保存每次响应（strict）",
    "notes for visits that found only noise (lean)": "仅有计数等差异时只存记录（lean）",
    "differences between versions (delta)": "保存版本间差异（delta）",
    "{} of the data stored differs in counters, dates or advertisements alone; with --keep lean a "
    "note is kept of such visits.": (
        "所存数据的 {} 仅有计数、日期或广告等差异；采用 --keep lean 可只存记录。"
    ),
    # All runs
    "All runs of this job": "历次采集",
    "No.": "序号",
    "Began": "开始时间",
    "Changed": "变更",
    "New": "新增",
    "Gone": "失效",
    "Unchanged": "未变更",
    "pages": "网页数",
    "New, changed and gone pages by run": "历次采集的新增、变更、失效网页数",
    # Reasons
    "the request was wrong": "请求有误",
    "a login is needed": "需要登录",
    "access was refused": "禁止访问",
    "there is no such page": "网页不存在",
    "it was removed for good": "网页已永久删除",
    "too many requests": "请求过于频繁",
    "it is barred for legal reasons": "因法律原因不可访问",
    "the server refused it": "服务器拒绝请求",
    "the server had an error": "服务器内部错误",
    "the server is not available": "服务器暂不可用",
    "the server had no answer in time": "网关超时",
    "the name of the host could not be resolved": "域名无法解析",
    "no connection to the server": "无法连接服务器",
    "the connection broke off": "连接中断",
    "no answer in time": "响应超时",
    "an error in the crawler": "采集程序错误",
    "it cannot be fetched, or its address is not allowed": "网址无法采集，或其地址不允许访问",
    "its robots.txt could not be fetched": "无法获取 robots.txt",
    "it was excluded by the operator": "被操作员排除",
    "a quota was reached": "达到配额",
    "the time limit was reached": "达到时间上限",
    "it was deleted by the operator": "被操作员删除",
    "robots.txt forbids it": "robots.txt 禁止采集",
    "out of the scope of the crawl": "超出采集范围",
    "it could not be fetched": "无法采集",
    # Units
    "{} d": "{} 天",
    "{} h": "{} 小时",
    "{} min": "{} 分",
    "{} s": "{} 秒",
}


class Translator:
    """Says texts in a language.

    Args:
        language: `en` or `zh`.
    """

    def __init__(self, language: Language = "en") -> None:
        self.language = language

    @property
    def tag(self) -> str:
        """The language, for HTML."""
        return "zh-CN" if self.language == "zh" else "en"

    def __call__(self, text: str, *values: object) -> str:
        """A text with its values.

        Raises:
            KeyError: There is no Chinese for it.
        """
        said = _ZH[text] if self.language == "zh" else text
        return said.format(*values) if values else said

    def count(self, number: int, one: str) -> str:
        """`1 host`, `1,234 hosts`; the number alone in Chinese, where the text has the word."""
        if self.language == "zh":
            return f"{number:,}"
        return f"{number:,} {one}" + ("" if number == 1 else "s")

    def why(self, status: int, cause: str) -> str:
        """The reason why something could not be fetched, as exactly as the language has it.

        Args:
            status: Fetch status.
            cause: The cause in English; "" for none.
        """
        if self.language == "en":
            return cause or reason_of(status)
        found = (said for known, said in _ZH_CAUSES if known in cause)
        return next(found, "") or self(reason_of(status))

    def stop(self, *sentences: str) -> str:
        """Sentences behind each other."""
        return ("" if self.language == "zh" else " ").join(filter(None, sentences))


_ZH_CAUSES = (
    ("connection refused", "连接被拒绝"),
    ("connection reset", "连接被服务器重置"),
    ("NXDOMAIN", "域名不存在"),
    ("certificate", "安全证书有误"),
    ("timed out", "连接超时"),
    ("no reply", "服务器无响应"),
    ("unreachable", "网络不可达"),
    ("Name or service not known", "域名不存在"),
)
"""Parts of causes in the crawler's words (`core.cause`), and the Chinese for the whole."""

_STATUSES = {
    400: "the request was wrong",
    401: "a login is needed",
    403: "access was refused",
    404: "there is no such page",
    407: "a login is needed",
    410: "it was removed for good",
    429: "too many requests",
    451: "it is barred for legal reasons",
    500: "the server had an error",
    502: "the server is not available",
    503: "the server is not available",
    504: "the server had no answer in time",
    -1: "the name of the host could not be resolved",
    -2: "no connection to the server",
    -3: "the connection broke off",
    -4: "no answer in time",
    -5: "an error in the crawler",
    -6: "the name of the host could not be resolved",
    -7: "it cannot be fetched, or its address is not allowed",
    -61: "its robots.txt could not be fetched",
    -5000: "out of the scope of the crawl",
    -5001: "it was excluded by the operator",
    -5002: "it was excluded by the operator",
    -5003: "a quota was reached",
    -5004: "the time limit was reached",
    -6000: "it was deleted by the operator",
    -9998: "robots.txt forbids it",
}

_KINDS = (
    ("text/html", "web pages"),
    ("application/xhtml", "web pages"),
    ("image/", "images"),
    ("text/css", "style sheets"),
    ("text/javascript", "scripts"),
    ("application/javascript", "scripts"),
    ("application/x-javascript", "scripts"),
    ("application/pdf", "PDF documents"),
    ("application/msword", "office documents"),
    ("application/vnd.", "office documents"),
    ("application/rtf", "office documents"),
    ("text/plain", "plain text"),
    ("application/json", "data (JSON, XML)"),
    ("application/xml", "data (JSON, XML)"),
    ("text/xml", "data (JSON, XML)"),
    ("application/rss", "data (JSON, XML)"),
    ("application/atom", "data (JSON, XML)"),
    ("font/", "fonts"),
    ("application/font", "fonts"),
    ("application/x-font", "fonts"),
    ("audio/", "audio"),
    ("video/", "video"),
    ("application/zip", "archives"),
    ("application/x-rar", "archives"),
    ("application/gzip", "archives"),
    ("text/dns", "names of hosts (DNS)"),
    ("unknown", "not given by the server"),
)


def reason_of(status: int) -> str:
    """The reason why something could not be fetched, as a text for `Translator`."""
    if status in _STATUSES:
        return _STATUSES[status]
    if 400 <= status < 500:
        return "the server refused it"
    return "the server had an error" if status >= 500 else "it could not be fetched"


def kind_of(mime: str) -> str:
    """The kind of a media type, as a text for `Translator`."""
    return next((kind for start, kind in _KINDS if mime.startswith(start)), "other")


ENDS = {
    "RUNNING": "still running",
    "FINISHED": "finished: everything in scope was tried",
    "INTERRUPTED": "interrupted; it can be resumed",
    "ABORTED": "stopped by the operator; it can be resumed",
    "FINISHED_DISK_WAIT": "stopped for lack of disk space; it can be resumed",
    "FINISHED_ABNORMAL": "cut off; it can be resumed",
    "CRASHED": "cut off; it can be resumed",
}
"""How runs end; all others end at a limit."""
LIMIT = "stopped at a limit that was set"

KEEPS = {
    "strict": "every reply in full (strict)",
    "lean": "notes for visits that found only noise (lean)",
    "delta": "differences between versions (delta)",
}
"""Ways of keeping."""
