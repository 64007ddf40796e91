"""Settings as the text of a new `crawl.yaml`; `job` changes one that is there."""

import io

from ruamel.yaml import YAML


def yaml_text(value: object) -> str:
    """YAML in the style of jobs: lists set in, lines as long as they are.

    Args:
        value: Mappings, lists and scalars; comments of ruamel.yaml's own types are kept.
    """
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 4096
    buffer = io.StringIO()
    yaml.dump(value, buffer)
    return buffer.getvalue()
