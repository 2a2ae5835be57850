# SPDX-License-Identifier: MIT
"""Records calls of operators for `aton verify --calls`; docs/verify.md describes the lines."""

import base64
import fnmatch
import json
import re

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def written(v):
    if isinstance(v, torch.Tensor):
        raw = v.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        return {"dtype": str(v.dtype), "shape": list(v.shape), "base64": base64.b64encode(raw).decode()}
    if isinstance(v, dict):
        return {name: written(each) for name, each in v.items()}
    return [written(each) for each in v] if isinstance(v, (list, tuple)) else str(v) if isinstance(v, torch.dtype) else v


class record(TorchDispatchMode):
    """`with record("calls.jsonl", operators=["my_ops::*"]):` writes what each call in the block gets, returns and writes."""

    def __init__(self, path, operators):
        super().__init__()
        self.path, self.operators, self.lines = path, operators, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs, schema = kwargs or {}, function._schema
        if not any(fnmatch.fnmatch(schema.name, each) for each in self.operators):
            return function(*args, **kwargs)
        # torch prints `Tensor!` as `Tensor($0! -> )`.
        call = {"schema": re.sub(r"\(\$\d+! -> \)", "!", str(schema)), "args": written(args), "kwargs": written(kwargs)}
        results = function(*args, **kwargs)
        call["outputs"] = written(list(results) if len(schema.returns) > 1 else [results] if schema.returns else [])
        given = dict(zip([each.name for each in schema.arguments], args)) | kwargs
        changed = [each.name for each in schema.arguments if each.alias_info is not None and each.alias_info.is_write]
        call |= {"mutated": {name: written(given.get(name)) for name in changed}} if changed else {}
        self.lines.append(json.dumps(call))
        return results

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
