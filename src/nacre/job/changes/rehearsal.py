"""What settings lead to is made once apart, before a running job takes them: nothing half done."""

from pathlib import Path

from nacre.errors import ConfigError, NacreError, Problem
from nacre.job.admission.rulefiles import RuleFiles
from nacre.job.configuration.preview import make_sheets
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.sheet_list import SheetList
from nacre.scope.options import compile_scope
from nacre.scope.state import ScopeState


def rehearse(settings: JobSettings, found: SheetList, root: Path) -> None:
    """Build the scope of the job and of each sheet, and the rules of the associations.

    Raises:
        ConfigError: A rule cannot be built: a file that it names cannot be read, or is wrong.
    """
    state = ScopeState(read_lines=RuleFiles(root).read_lines)
    try:
        sheets = make_sheets(settings, found, state)
        for name in found.sheets:
            sheets.overlays.number([name])
        for under in sheets.overlays.settings.then(lambda s: s.scope):
            compile_scope(under, state)
    except OSError as error:
        why = f"{error.filename or 'a file'} cannot be read: {error.strerror or error}"
        raise ConfigError([Problem("scope", why)]) from error
    except (NacreError, ValueError) as error:
        raise ConfigError([Problem("scope", str(error))]) from error
