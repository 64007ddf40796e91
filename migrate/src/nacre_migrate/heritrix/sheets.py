"""Sheets of Heritrix, and their associations with SURT prefixes and rules."""

from typing import Any

from nacre.config.sheet import check_sheet
from nacre.scope.heritrix import equivalent
from nacre.settings.settings import JobSettings
from nacre_migrate.draft import CommentedMapping
from nacre_migrate.heritrix.agent import is_policy_of_host, map_policy_of_host
from nacre_migrate.heritrix.beans import Bean, Setting
from nacre_migrate.heritrix.chains import entry_of, property_of_entry, switch_of
from nacre_migrate.heritrix.expressions import open_doubt
from nacre_migrate.heritrix.mappings import POLICIES, PropertyMapping, flag
from nacre_migrate.heritrix.placeholders import locate, read_properties
from nacre_migrate.heritrix.scope import RuleWriter, rule_problem, setting_of_rule
from nacre_migrate.heritrix.work import Migration, becomes
from nacre_migrate.report import mapped, to_check

ASSOCIATIONS = ("SurtPrefixesSheetAssociation", "DecideRuledSheetAssociation")


class SheetWriter:
    """Writes sheets and associations.

    Args:
        work: The migration; its scope and other settings are there already.
        settings: The settings that the sheets are checked against.
    """

    def __init__(self, work: Migration, settings: JobSettings) -> None:
        self._work = work
        self._beans = work.beans
        self._settings = settings
        self._sheets: dict[str, CommentedMapping] = {}

    def write(self) -> None:
        """All sheets and associations of the configuration."""
        for bean in self._beans.of_kind("Sheet"):
            self.sheet(bean)
        associations = [self._association(bean) for bean in self._beans.of_kind(*ASSOCIATIONS)]
        self.place([association for association in associations if association is not None])

    def place(self, associations: list[CommentedMapping]) -> None:
        """Put the sheets into the draft."""
        draft = self._work.draft
        if self._sheets:
            draft.put("sheets", self._sheets)
        if associations:
            draft.put("sheet_associations", associations)

    def sheet(self, bean: Bean) -> None:
        """One sheet; an entry that cannot be is flagged."""
        values = CommentedMapping({}, {})
        for entry in self._entries(bean):
            values.update(self._entry(bean, entry))
            for path in (entry.conversion.target if entry.conversion else "").split(", "):
                if path in values:
                    values.reasons[path] = entry.place
        name = bean.name.replace(".", "-") or f"sheet{len(self._sheets) + 1}"
        self._sheets[name] = values
        bean.decide_with_settings(mapped("sheets"))

    def _entries(self, bean: Bean) -> list[Setting]:
        """The entries of its map, or of its list of properties."""
        entries: list[Setting] = []
        for setting in bean.settings.values():
            value = self._beans.resolved(setting.value)
            if isinstance(value, dict):
                entries += (item for item in value.values() if isinstance(item, Setting))
                value = value.get("")
            if isinstance(value, str):
                for key, text, line in read_properties(value):
                    entry = Setting(key, text, setting.line_of(line), bean, "entry")
                    entry.doubt_value(open_doubt(text))
                    self._beans.add(entry)
                    entries.append(entry)
        return entries

    def _entry(self, bean: Bean, entry: Setting) -> dict[str, Any]:
        if entry.doubt:
            return {}
        target = locate(self._beans, entry.name)
        if target is None:
            entry.decide(to_check("leads to no bean of this configuration"))
            return {}
        owner, name = target
        values = self._of_rule(owner, name, entry)
        if values is None:
            values = self._of_bean(owner, name, entry)
        sheet, problems = check_sheet("sheet", values, self._settings)
        if problems:
            entry.decide(to_check(f"left out: {problems[0].message}", ", ".join(values)))
        return dict(sheet.values)

    def _of_rule(self, owner: Bean, name: str, entry: Setting) -> dict[str, Any] | None:
        """A property of a rule of the scope; None when it is none."""
        if equivalent(owner.kind) is None:
            return None
        above = self._work.rule_paths.get(owner)
        if above is None:
            entry.decide(to_check("is about a rule that is not in the scope"))
            return {}
        several = isinstance(self._beans.resolved(entry.value), list)
        rule_value: object = self._beans.listed(entry.value) if several else entry.text
        problem = rule_problem(owner.kind, {name: rule_value})
        if problem and "required" not in problem.lower():
            entry.decide(to_check(f"left out: {problem}"))
            return {}
        values = setting_of_rule(owner.kind, name, rule_value)
        settings = {f"{above}.{key}": value for key, value in values.items()}
        entry.decide(mapped(", ".join(settings)))
        return settings

    def _of_bean(self, owner: Bean, name: str, entry: Setting) -> dict[str, Any]:
        chosen = self._beans.resolved(entry.value)
        if isinstance(chosen, Bean):
            return self._of_choice(owner, name, entry, chosen)
        if is_policy_of_host(owner, name):
            conversion, values = map_policy_of_host(self._work, owner, name, entry)
            entry.decide(conversion)
            return values
        kind = self._work.kind(owner)
        rule = kind.properties.get(name) if kind is not None else None
        if owner in self._work.entries:
            rule = property_of_entry(self._work, owner, name)
        if name == "enabled":
            path = switch_of(self._work, owner)
            rule = PropertyMapping(path, flag) if path else None
        if rule is None:
            entry.decide(to_check(f"{owner.kind}.{name} is nothing that a sheet can change here"))
            return {}
        conversion, values = becomes(rule, entry, always=True)
        entry.decide(conversion)
        return values

    def _of_choice(self, owner: Bean, name: str, entry: Setting, chosen: Bean) -> dict[str, Any]:
        """A policy, or a gate, in place of another."""
        entry.decide(to_check(f"{owner.kind}.{name} is nothing that a sheet can change here"))
        place = entry_of(self._work, owner)
        if name == "shouldProcessRule" and place:
            path = f"{place}.gate"
            entry.decide(mapped(path))
            return {path: RuleWriter(self._work, "sheets").rules([chosen])}
        kind = self._work.kind(chosen)
        if chosen.kind not in POLICIES or kind is None:
            return {}
        path, policy = POLICIES[chosen.kind]
        entry.decide(mapped(path))
        choice: dict[str, Any] = {"policy": policy}
        for key, setting in chosen.settings.items():
            rule = kind.properties.get(key)
            values = becomes(rule, setting, always=True)[1] if rule is not None else {}
            choice |= {target.rpartition(".")[2]: value for target, value in values.items()}
        return {path: policy if path == "frontier.cost" else choice}

    def _association(self, bean: Bean) -> CommentedMapping | None:
        names = self._names(bean)
        existing = [name for name in names if name in self._sheets]
        association: dict[str, Any] = {"sheets": existing}
        rules: list[CommentedMapping] = []
        if bean.kind == ASSOCIATIONS[0]:
            association["surts"] = self._texts(bean, "surtPrefixes")
        else:
            rules_setting = bean.settings.get("rules")
            rules = RuleWriter(self._work, "sheet_associations").rules(
                self._beans.beans_in(rules_setting)
            )
            association["rules"] = rules
            if (order := bean.text("order")).lstrip("-").isdecimal():
                association["order"] = int(order)
        if not existing or not (association.get("surts") or rules):
            bean.decide(to_check("left out: it names no sheet or no place that is known"))
            for setting in bean.settings.values():
                setting.decide(bean.conversion)
            return None
        bean.decide_with_settings(mapped("sheet_associations"))
        if existing != names and (target := bean.settings.get("targetSheetNames")) is not None:
            lost = ", ".join(name for name in names if name not in existing)
            target.decide(to_check(f"there is no sheet {lost}", "sheet_associations"))
        return CommentedMapping(association, {"sheets": bean.place})

    def _names(self, bean: Bean) -> list[str]:
        return [name.replace(".", "-") for name in self._texts(bean, "targetSheetNames")]

    def _texts(self, bean: Bean, name: str) -> list[str]:
        setting = bean.settings.get(name)
        items = self._beans.listed(setting.value) if setting is not None else []
        return [item.strip() for item in items if isinstance(item, str) and item.strip()]
