# SPDX-License-Identifier: MIT
"""`python -m aton_onnx ...` and the script `aton`: the command, in place of this process. `language-model` needs torch."""

import os
import sys

from ._command import executable
from ._errors import AtonError


def main() -> int:
    """Replaces this process by the command, with the same arguments; `language-model` is a command of this package."""
    if sys.argv[1:2] == ["language-model"]:
        from ._language_model import main as language_model

        return language_model(sys.argv[2:])
    try:
        path = executable()
        os.execv(path, [str(path), *sys.argv[1:]])
    except (AtonError, OSError) as error:
        print(f"aton: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
