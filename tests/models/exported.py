# SPDX-License-Identifier: MIT
"""What torch makes of the models in the zoo: a folder for each, with raw.pt2 (straight from torch.export.export),
decomposed.pt2 (after run_decompositions()), cases.npz (inputs and torch's own outputs, twice) and about.json. A folder
that is up to date stays."""

import copy
import hashlib
import importlib.metadata
import json
import logging
import pathlib
import shutil
import warnings

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("raw", "decomposed")


class Unfit(Exception):
    """A model that proves nothing."""


def fingerprint(entry):
    """Changes with everything that a folder is made from."""
    found = hashlib.sha256()
    for path in (HERE / "zoo.py", HERE / "exported.py"):
        found.update(path.read_bytes())
    found.update(own_text(entry).encode())
    for package in ("torch", *entry.needs):
        found.update(f"{package} {importlib.metadata.version(package)}\n".encode())
    return found.hexdigest()


def own_text(entry):
    """The file of an entry, without the models that tests/zoo registers beside it."""
    blocks = entry.source.read_text(encoding="utf-8").split("\n\n\n")
    own = f"def {getattr(entry.build, 'func', entry.build).__name__}("
    return "\n\n\n".join(block for block in blocks if own in block or not block.startswith("@net("))


def read_about(folder):
    try:
        return json.loads((folder / "about.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def prepare(entry, folder):
    """Fills the folder where it is not up to date; gives what is in its about.json."""
    wanted = fingerprint(entry)
    about = read_about(folder)
    if about.get("fingerprint") == wanted:
        return about
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    about = make_folder(entry, folder) | {"fingerprint": wanted}
    (folder / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return about


def make_folder(entry, folder):
    import numpy
    import torch

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    with torch.no_grad():
        made = entry.make()
        check_reaction(made)
        cases = {}
        for number, args in enumerate((made.args, made.other)):
            cases |= record(made.module, args, number)
        given = copy.deepcopy(made.args)
        module = made.module.module if made.training else made.module
        program = torch.export.export(module, given, dynamic_shapes=made.dynamic, strict=made.strict)
        other = program.run_decompositions() if made.decomposes and not made.training else program
        raw, decomposed = joint(program) if made.training else (program, other)
        torch.export.save(raw, folder / "raw.pt2")
        torch.export.save(decomposed, folder / "decomposed.pt2")
    numpy.savez(folder / "cases.npz", **cases)
    return {"parameters": sum(p.numel() for p in made.module.parameters()), "dynamic": made.dynamic is not None}


def joint(program):
    """The program of a loss with its gradients: with torch's operators for gradients, and as torch decomposes them."""
    import torch
    from torch.export.experimental import _export_forward_backward
    from torch.export.exported_program import _decompose_exported_program

    with torch.enable_grad():
        whole = _decompose_exported_program(
            program, cia_to_decomp={}, python_decomp_table={}, joint_loss_index=0, decompose_custom_triton_ops=False
        )
        return whole, _export_forward_backward(program)


def tensors(tree):
    """The tensors in a tree of arguments or results, in the order of torch.export."""
    import torch

    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def states(module):
    """Buffers, and tensors that are plain attributes: {name: tensor}."""
    import torch

    found = dict(module.named_buffers())
    for prefix, part in module.named_modules():
        found |= {f"{prefix}.{name}".lstrip("."): v for name, v in vars(part).items() if isinstance(v, torch.Tensor)}
    return found


def run(module, args):
    """Results of a copy of the module, and the states and arguments that the call changed: {name: new value}."""
    import torch

    module, given = copy.deepcopy(module), copy.deepcopy(args)
    same = states(module)
    before = {name: state.clone() for name, state in same.items()}
    results = [r.clone() for r in tensors(module(*given))]
    buffers = dict(module.named_buffers())
    # torch.export does not record that a plain attribute gets another tensor, only that its tensor is written to.
    after = {n: s for n, s in states(module).items() if n in buffers or s is same.get(n)}
    changed = {n: s for n, s in after.items() if not torch.equal(in_reals(s), in_reals(before[n]))}
    for i, (old, new) in enumerate(zip(tensors(args), tensors(given))):
        if not torch.equal(in_reals(old), in_reals(new)):
            changed[f"argument {i}"] = new
    return results, changed


def in_reals(tensor):
    """Models hold complex tensors as reals with a trailing axis of 2."""
    import torch

    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def record(module, args, number):
    """Arrays of a call, by name: input_0_1, output_0_1, state_0_mean."""
    results, changed = run(module, args)
    found = {f"input_{number}_{i}": in_reals(t).numpy() for i, t in enumerate(tensors(args))}
    found |= {f"output_{number}_{i}": in_reals(t).numpy() for i, t in enumerate(results)}
    return found | {f"state_{number}_{name}": in_reals(t).numpy() for name, t in changed.items()}


def changed_arguments(args):
    """The same shapes, other values."""
    import torch

    def change(leaf):
        if not isinstance(leaf, torch.Tensor) or leaf.numel() == 0 or leaf.dtype == torch.bool:
            return leaf
        if leaf.is_floating_point() or leaf.is_complex():
            return leaf + torch.randn_like(leaf)
        return (leaf + 1) % (leaf.max() + 1).clamp(min=1)

    return torch.utils._pytree.tree_map(change, args)


def check_reaction(made):
    """Outputs that stay as they are when the inputs change prove nothing."""
    import torch

    first, second = run(made.module, made.args)[0], run(made.module, changed_arguments(made.args))[0]
    for a, b in zip(first, second):
        if a.shape == b.shape and a.numel():
            a, b = (torch.nan_to_num(in_reals(t).double()) for t in (a, b))
            difference = (a - b).abs().max()
            if difference > 1e-3 and difference > 0.01 * a.abs().max():
                return
    raise Unfit("the outputs do not react to the inputs")
