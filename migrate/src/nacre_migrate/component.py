"""The parts that this package adds to Nacre: its entry point in the group `nacre.components`."""

from typing import Final

from nacre.config.extension import Extension

MIGRATE: Final = Extension(
    contract=1,
    commands={"migrate": "nacre_migrate.commands:migrate"},
    console_port="nacre_migrate.port.app:make_port",
    reader_tasks={
        "bean-values": "nacre_migrate.port.tasks:bean_values",
        "check": "nacre_migrate.port.tasks:check_settings",
        "convert-beans": "nacre_migrate.port.tasks:convert_beans",
        "write-report": "nacre_migrate.port.tasks:write_report",
    },
    editing_help="nacre_migrate.heritrix.mappings:heritrix_properties",
)
