# SPDX-License-Identifier: MIT
"""Python packages that a script needs but cannot install."""

import importlib.util
import sys


def is_missing(*packages):
    """Whether one of them is not installed; says which."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            print(f"skipped: {package} is not installed for {sys.executable}")
            return True
    return False
