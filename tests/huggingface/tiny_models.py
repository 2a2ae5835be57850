# SPDX-License-Identifier: MIT
"""A tiny model of a component, the tensors that it takes, and its program of torch.export."""

import contextlib
import copy
import functools
import inspect
import re
import zlib

import checking
from model_types import VARIANTS

TOLERANCE, MOST_TOLERANCE, HALF_TOLERANCE = 1e-4, 1e-2, 2e-2
MAX_PARAMETERS = 40_000_000


class Unbuilt(Exception):
    """No tiny model of the type runs in torch."""


class Uncaptured(Exception):
    pass


class Absent(Exception):
    """The type has no such component."""


def build(kind, component, class_name):
    import torch
    import transformers

    from tiny_configs import parts_of, tiny

    config = tiny(kind)
    for part in parts_of(config):
        if getattr(part, "use_cache", None):
            part.use_cache = False
    if component in ("causal_lm", "decode", *VARIANTS) and hasattr(config, "is_decoder"):
        config.is_decoder = True
    model_class = getattr(transformers, class_name)
    wanted = model_class.config_class
    if isinstance(wanted, type):  # such as that of the text alone
        config = next((part for part in parts_of(config) if isinstance(part, wanted)), config)
    with contextlib.suppress(NotImplementedError, RuntimeError), torch.device("meta"):
        size = sum(p.numel() for p in model_class._from_config(config).parameters())
        if size > MAX_PARAMETERS:
            raise Unbuilt(f"{size} parameters")
    attention = {"attn_implementation": "eager"} if component in ("eager", "outputs") else {}
    model = model_class._from_config(copy.deepcopy(config), **attention).eval()
    return model.half() if component == "float16" else model


def positional(model, names, rest):
    """The model with tensors by position and its results as a tuple. `rest` makes the arguments that are no tensors of their own."""
    import exported
    import torch

    class Positional(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.wrapped = model

        def forward(self, *args):
            given = dict(zip(names, args))
            return tuple(exported.tensors(dict(model_output(self.wrapped(**given, **rest(args[len(names) :]))))))

    return Positional().eval()


def model_output(result):
    return result if isinstance(result, dict) else {"results": result}


def cache_of(model, given):
    """The tensors of a cache after a call, and the function that makes the argument of them."""
    import torch
    from transformers.exporters.exporter_dynamo import register_cache_pytrees_for_model

    register_cache_pytrees_for_model(model)
    result = model(**given, use_cache=True)
    name = next((n for n in ("past_key_values", "cache_params") if result.get(n) is not None), None)
    if name is None:
        raise Absent("no cache")
    leaves, spec = torch.utils._pytree.tree_flatten(result[name])
    if not leaves or not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise Unbuilt("the cache holds no tensors")
    return leaves, lambda tensors: {name: torch.utils._pytree.tree_unflatten(list(tensors), spec), "use_cache": True}


def places_for(problem):
    """The number of words that a model wants for the vectors of one image or sound, as its message says."""
    found = re.search(r"tokens do not match, tokens: 0, features: (\d+)", str(problem))
    return int(found[1]) // 2 if found else 0


def inputs_that_run(model):
    """The names of the first set of arguments that the model takes, and the function that makes them."""
    import inputs

    problem, images, tried = None, 0, ()
    wanted, parameters = inputs.choices(model)
    for names in wanted:
        for images in (0, None):
            if images is None and not (images := places_for(problem)):
                continue
            given = inputs.arguments(names, model.config, 2, 7, parameters, images)
            if given is None:
                continue
            try:
                model(**given)
                return tuple(given), functools.partial(inputs.arguments, tuple(given), model.config, parameters=parameters, images=images)
            except Exception as e:  # a model may raise anything
                if problem is None or places_for(e) or len(names) >= len(tried):
                    problem, tried = e, names
    raise Unbuilt(f"{tried}: {type(problem).__name__}: {checking.short(problem)}" if problem else f"no inputs for {wanted}")


def left_padding(batch, length):
    """A mask of texts whose first words are padding, and the positions of their words."""
    import torch

    mask = (torch.arange(length)[None] >= torch.arange(batch)[:, None]).long()
    return mask, (mask.cumsum(1) - 1).clamp(min=0)


def maker(model, component):
    """The module with tensors by position, and a function of batch and length that makes the tensors."""
    names, arguments = inputs_that_run(model)
    parameters = inspect.signature(model.forward).parameters
    if component in VARIANTS and "past_key_values" not in parameters and "cache_params" not in parameters:
        raise Absent("no cache")
    if component in ("decode", "padded_decode", "static"):
        return decoding(model, component, arguments, parameters)
    fixed = {}
    if component == "outputs":
        fixed = {"output_attentions": True, "output_hidden_states": True}
    if component == "prefill":
        cache_of(model, arguments(batch=2, length=7))
        fixed = {"use_cache": True}
    wanted = {"padded": ("input_ids", "attention_mask", "position_ids"), "embeds": ("inputs_embeds", "attention_mask")}.get(component, names)
    if any(name not in parameters for name in wanted):
        raise Absent(f"no {', '.join(name for name in wanted if name not in parameters)}")

    def give(batch, length):
        given = arguments(batch=batch, length=length)
        if component == "padded":
            given["attention_mask"], given["position_ids"] = left_padding(batch, length)
        if component == "embeds":
            given["inputs_embeds"] = model.get_input_embeddings()(given["input_ids"]).detach()
        return tuple(given[name] for name in wanted)

    return positional(model, wanted, lambda _: fixed), give


def decoding(model, component, arguments, parameters):
    """One more word after a cache. The memory of a static cache has its largest size at once."""
    import inputs

    if "past_key_values" not in parameters and "cache_params" not in parameters:
        raise Absent("no cache")
    padded, static = component == "padded_decode", component == "static"
    if padded and ("position_ids" not in parameters or "attention_mask" not in parameters):
        raise Absent("no position_ids")

    def before(batch, length):
        given = arguments(batch=batch, length=length)
        if padded:
            given["attention_mask"], given["position_ids"] = left_padding(batch, length)
        if static:
            given["past_key_values"] = static_cache(model)
            given.pop("attention_mask", None)
        return cache_of(model, given)

    names = ("input_ids", "attention_mask", "position_ids") if padded else ("input_ids",)
    rest = before(2, 7)[1]

    def give(batch, length):
        leaves, _ = before(batch, length)
        more = tuple(t if i == 0 else t[:, -1:] for i, t in enumerate(left_padding(batch, length + 1))) if padded else ()
        return (inputs.words(model.config, batch, 1), *more, *leaves)

    return positional(model, names, rest), give


def static_cache(model):
    from transformers import StaticCache

    return StaticCache(config=model.config, max_cache_len=16)


def capture(module, make, model, length):
    """The program of torch.export, and two sets of inputs for it."""
    import torch
    from transformers.exporters.exporter_dynamo import apply_patches

    args = make(2, length)
    others = make(3, length + 4)
    auto = torch.export.Dim.AUTO
    varying = tuple({d: auto for d, (a, b) in enumerate(zip(t.shape, o.shape)) if a != b} or None for t, o in zip(args, others))
    problem = None
    for dynamic, patched in ((True, False), (False, False), (True, True), (False, True)):
        with apply_patches("dynamo") if patched else contextlib.nullcontext():
            try:
                shapes = (varying,) if dynamic else None
                program = torch.export.export(module, copy.deepcopy(args), dynamic_shapes=shapes, strict=False)
            except Exception as e:
                problem = problem or e
                continue
        for batch, other_length in ((3, length + 4), (3, length), (2, length + 4)) if dynamic else ():
            with contextlib.suppress(Exception):  # sizes that the program does not accept
                others = make(batch, other_length)
                program.module()(*copy.deepcopy(others))
                changed = {d for t, o in zip(args, others) for d, (a, b) in enumerate(zip(t.shape, o.shape)) if a != b}
                if not changed:
                    break
                return program, args, others, f"{'batch' if batch == 3 else ''} {'length' if changed - {0} else ''}".strip()
        return program, args, make(2, length), "static"
    raise Uncaptured(f"{type(problem).__name__}: {checking.short(problem)}")


def rounding(module, args):
    """How much the outputs change if every weight changes by half a unit in the last place or one: what another order of sums may do."""
    import exported
    import torch

    changed = copy.deepcopy(module)
    for weight in changed.parameters():
        if weight.dtype == torch.float32:
            weight.mul_(1 + (torch.rand_like(weight) - 0.5) * 2**-22)
    before, after = (exported.run(m, args)[0] for m in (module, changed))
    try:
        return checking.compare(*([exported.in_reals(t).numpy() for t in outputs] for outputs in (before, after)))
    except checking.Failure:  # integers, such as the largest of several equal numbers
        return 0.0


def prepare(kind, component, class_name, folder, decomposed=False):
    """Fills a folder as exported.make_folder() does; gives what is dynamic, whether both outputs are the same, and the tolerance."""
    import exported
    import numpy
    import torch

    import zoo

    torch.set_num_threads(1)
    torch.manual_seed(zlib.crc32(f"{kind} {component}".encode()))
    with torch.no_grad():
        try:
            model = build(kind, component, class_name)
            zoo.randomize(model)
            module, make = maker(model, component)
            zoo.randomize_statistics(module, make(2, 7))
        except (Unbuilt, Absent):
            raise
        except Exception as e:
            raise Unbuilt(f"{type(e).__name__}: {checking.short(e)}") from None
        program, args, others, dynamic = capture(module, make, model, 7)
        cases = {}
        for number, given in enumerate((args, others)):
            cases |= exported.record(program.module(), given, number)
        noise = rounding(module, args)
        torch.export.save(program.run_decompositions() if decomposed else program, folder / "raw.pt2")
    numpy.savez(folder / "cases.npz", **cases)
    same = all(numpy.array_equal(cases[n], cases[n.replace("output_0", "output_1")], equal_nan=True) for n in cases if n.startswith("output_0"))
    return dynamic, same, HALF_TOLERANCE if component == "float16" else min(MOST_TOLERANCE, max(TOLERANCE, 4 * noise))
