# SPDX-License-Identifier: MIT
"""For the scripts that make test data: programs that do not name the folders of the machine they were made on."""
import re

import torch

FOLDERS = re.compile(r'File "[^"]*?/(?:site-packages/)?((?:torch/[^"]*)|[^"/]+)"')


def without_folders(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Removes the folders from the names of files in stack traces, but for those of torch."""
    for node in program.graph.nodes:
        if "stack_trace" in node.meta:
            node.meta["stack_trace"] = FOLDERS.sub(r'File "\1"', node.meta["stack_trace"])
    return program
