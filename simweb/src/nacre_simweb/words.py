"""Text that looks like Chinese or English, without meaning, made from random bytes."""

from nacre_simweb.draw import Draw
from nacre_simweb.parameters import Language

_CHINESE = """
文化 旅游 发展 工作 建设 管理 服务 国家 社会 经济 改革 创新 项目 部门 会议 通知 规划 政策 实施 推进
加强 完善 提升 保障 群众 地方 中央 单位 机构 活动 展览 艺术 遗产 保护 传承 博物 图书 公共 数字 平台
资源 信息 公开 审批 申请 材料 办理 流程 时间 地点 联系 电话 负责 领导 小组 会同 有关 依法 监督 检查
安全 生产 质量 标准 技术 人才 培养 教育 科研 成果 评审 名单 公示 公告 决定 意见 方案 办法 条例 规定
制度 体系 机制 目标 任务 重点 领域 产业 市场 企业 投资 合作 交流 国际 区域 协调 城乡 农村 乡村 振兴
生态 环境 绿色 健康 医疗 就业 收入 民生 基层 治理 能力 水平 全面 深入 积极 持续 稳步 有效 统筹 落实
报告 研究 分析 总结
"""
_ENGLISH = """
the of and to in for on with as by from at that this which their will new public city report
council library museum archive record paper system service plan budget year month week region
district school health water energy road bridge garden river market company worker family
student teacher village court minister officer member party meeting decision policy law rule
order notice letter answer question number list table figure result method change growth price
cost income tax fund grant project program study survey sample model test theory history art
music film theatre writer painter book page story word line house tower station harbour island
mountain forest field farm winter summer morning evening early late long short high low large
small open closed local national common special several many most other second third final
"""
_SIZE = 128


def _words(text: str) -> tuple[str, ...]:
    words_of_text = text.split()
    return tuple((words_of_text * (_SIZE // len(words_of_text) + 1))[:_SIZE])


_TABLE: dict[Language, tuple[str, ...]] = {"zh": _words(_CHINESE), "en": _words(_ENGLISH)}


def words(draw: Draw, language: Language, count: int) -> list[str]:
    """So many words."""
    table = _TABLE[language]
    return [table[byte & 127] for byte in draw.bytes(count)]


def paragraph(draw: Draw, language: Language, patched: Draw | None = None) -> str:
    """Return a paragraph of some 30 to 90 words.

    Args:
        draw: What it says.
        language: In which language.
        patched: Where given, one word of it is another one: the smallest of edits.
    """
    chosen = words(draw, language, 30 + draw.below(60))
    if patched is not None:
        chosen[patched.below(len(chosen))] = patched.at("word").pick(_RARE[language])
    return _sentences(chosen, language)


_RARE: dict[Language, tuple[str, ...]] = {
    "zh": ("延长", "取消", "暂缓", "修订", "废止", "试行", "增设", "合并"),
    "en": ("extended", "cancelled", "postponed", "amended", "repealed", "provisional", "merged"),
}


def _sentences(words_in: list[str], language: Language) -> str:
    pieces: list[str] = []
    step = 11 if language == "zh" else 14
    for place in range(0, len(words_in), step):
        piece = words_in[place : place + step]
        if language == "zh":
            pieces.append("".join(piece[:5]) + ("，" if piece[5:] else "") + "".join(piece[5:]))
        else:
            pieces.append(" ".join(piece).capitalize())
    return "。".join(pieces) + "。" if language == "zh" else ". ".join(pieces) + "."


def title(draw: Draw, language: Language) -> str:
    """Return a headline."""
    chosen = words(draw, language, 4 + draw.below(4))
    return "关于" + "".join(chosen) if language == "zh" else " ".join(chosen).capitalize()
