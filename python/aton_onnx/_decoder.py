# SPDX-License-Identifier: MIT
"""Captures a decoder of transformers as one program: for the prompt, with a cache of length 0, and for each later step."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from ._errors import AtonError
from ._products import merge_products

#: The example: a batch of 2, 6 positions in the cache, and 3 new tokens. No two sizes are the same, and none is 0 or 1.
BATCH, PAST, NEW = 2, 6, 3


@dataclasses.dataclass(frozen=True)
class State:
    """What a layer passes from one step to the next."""

    layer: int
    part: Literal["key", "value", "conv"]
    size: tuple[int, ...]  #: of the example
    held: int  #: the size of the last axis in the cache of transformers; `size` may be larger

    @property
    def grows(self) -> bool:
        """Whether every token adds to it; otherwise its size is constant."""
        return self.part != "conv"

    @property
    def names(self) -> tuple[str, str]:
        """Its input and its output."""
        if self.part == "conv":
            return f"past_conv.{self.layer}", f"present_conv.{self.layer}"
        return f"past_key_values.{self.layer}.{self.part}", f"present.{self.layer}.{self.part}"

    @property
    def argument(self) -> str:
        """The key of the dict that the program takes, whose input is then called `past_` and this."""
        return f"{self.layer}_{self.part}"


@dataclasses.dataclass(frozen=True)
class Captured:
    """A program and what its inputs are."""

    program: Any  #: torch.export.ExportedProgram
    states: tuple[State, ...]
    inputs: tuple[str, ...]  #: without those of states


def capture(model: Any, logits: Literal["all", "last"] = "all", positions: int = 0) -> Captured:
    """The program of a model of transformers with a head for the next token. The model is not changed. With `positions`,
    rotary embeddings are rows of tables for so many positions, and products of one operand are one product.

    Sliding windows count tokens; those of transformers count places of the cache. Both are the same unless padding is
    between a text and what follows, where generators that pad on the right have it.

    Raises AtonError if a cache of this kind cannot be passed from step to step, and what torch.export raises.
    """
    import torch

    inputs = tuple(name for name in ("attention_mask", "position_ids") if name in _parameters(model))
    if "attention_mask" not in inputs:
        raise AtonError(
            f"{type(model).__name__}: takes no attention_mask, so that texts of different lengths have no padding"
        )
    with torch.no_grad(), _exportable(model, positions):
        states = _states_of(model)
        decoder = _decoder(model, inputs, states, logits)
        dynamic = torch.export.Dim.DYNAMIC
        text = {0: dynamic, 1: dynamic}
        example = _example(model, states)
        shapes = {
            "input_ids": text,
            "attention_mask": text,
            "position_ids": text,
            "past": {each.argument: {0: dynamic, 2: dynamic} if each.grows else {0: dynamic} for each in states},
        }
        given = {name: example[name] for name in ("input_ids", *inputs, "past")}
        program = torch.export.export(
            decoder, (), given, dynamic_shapes={name: shapes[name] for name in given}, strict=False
        )
    _drop_changed_buffers(program)
    if positions:
        merge_products(program)
    return Captured(program, states, ("input_ids", *inputs))


def _parameters(model: Any) -> Sequence[str]:
    return list(inspect.signature(model.forward).parameters)


def _cache_argument(model: Any) -> str:
    name = next((each for each in ("past_key_values", "cache_params") if each in _parameters(model)), None)
    if name is None:
        raise AtonError(f"{type(model).__name__}: takes no cache, so that it cannot continue a text")
    return name


def _empty_cache(model: Any) -> Any:
    """A cache that keeps all positions. The masks of sliding windows hide the older ones; what a cache with windows cuts off
    depends on the number of tokens so far, which torch.export records as a constant."""
    from transformers import cache_utils as caches

    cache = caches.DynamicCache(config=model.config)
    if getattr(cache, "layer_class_to_replicate", None) is not None:
        return cache
    whole = {
        caches.DynamicSlidingWindowLayer: caches.DynamicLayer,
        caches.LinearAttentionAndSlidingWindowAttentionLayer: caches.LinearAttentionAndFullAttentionLayer,
    }
    kept = (caches.DynamicLayer, caches.LinearAttentionLayer, caches.DummyLayer)
    for index, layer in enumerate(cache.layers):
        made = whole[type(layer)]() if type(layer) in whole else layer
        if type(made) not in kept:
            raise AtonError(
                f"{type(model).__name__}: layer {index} keeps a {type(made).__name__}, which generators have no inputs for"
            )
        cache.layers[index] = made
    return cache


def _example(model: Any, states: Sequence[State] = ()) -> dict[str, Any]:
    """What the program takes. Without states it is what the model takes for a text of `PAST` tokens."""
    import torch

    device, dtype = model.device, model.dtype
    length = NEW if states else PAST
    most = model.config.get_text_config(decoder=True).vocab_size
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(0, most, (BATCH, length), generator=generator).to(device)
    before = PAST if states else 0
    return {
        "input_ids": ids,
        "attention_mask": torch.ones(BATCH, before + length, dtype=torch.long, device=device),
        "position_ids": torch.arange(before, before + length, device=device).expand(BATCH, length).contiguous(),
        "past": {each.argument: torch.zeros(each.size, dtype=dtype, device=device) for each in states},
    }


def _states_of(model: Any) -> tuple[State, ...]:
    """What is in the cache after a text of `PAST` tokens."""
    cache = _empty_cache(model)
    example = _example(model)
    given = {name: example[name] for name in ("input_ids", "attention_mask", "position_ids") if name in _parameters(model)}
    model(**given, **{_cache_argument(model): cache}, use_cache=True)
    states = [state for index, layer in enumerate(cache.layers) for state in _states_of_layer(model, index, layer)]
    if not states:
        raise AtonError(f"{type(model).__name__}: leaves its cache empty, so that it cannot continue a text")
    return tuple(states)


def _states_of_layer(model: Any, index: int, layer: Any) -> Iterator[State]:
    name = type(model).__name__
    keys, values = getattr(layer, "keys", None), getattr(layer, "values", None)
    if keys is not None and values is not None:
        if keys.dim() != 4 or keys.shape[2] != PAST or values.shape[:3] != keys.shape[:3]:
            raise AtonError(
                f"{name}: layer {index} keeps keys of {list(keys.shape)} and values of {list(values.shape)} for {BATCH} "
                f"texts of {PAST} tokens, and generators have inputs for [batch, heads, length, size] only"
            )
        largest = max(keys.shape[3], values.shape[3])  # generators allocate both alike
        yield State(index, "key", (*keys.shape[:3], largest), keys.shape[3])
        yield State(index, "value", (*values.shape[:3], largest), values.shape[3])
    if any(each is not None for each in getattr(layer, "recurrent_states", {}).values()):
        raise AtonError(
            f"{name}: layer {index} keeps a recurrent state, which transformers computes in other ways for a prompt and for "
            "one token, so that no one program does both; AtonExporter writes one for each"
        )
    convolutions = [each for each in getattr(layer, "conv_states", {}).values() if each is not None]
    if len(convolutions) > 1:
        raise AtonError(
            f"{name}: layer {index} keeps {len(convolutions)} states of convolutions; generators have an input for one"
        )
    if convolutions:
        yield State(index, "conv", tuple(convolutions[0].shape), convolutions[0].shape[-1])


def _filled(cache: Any, states: Sequence[State], past: dict[str, Any]) -> Any:
    """The cache with the states of earlier steps."""
    by_layer: dict[int, dict[str, Any]] = {}
    for state in states:
        given = past[state.argument]
        by_layer.setdefault(state.layer, {})[state.part] = (
            given if state.held == state.size[-1] else given[..., : state.held]
        )
    if getattr(cache, "layer_class_to_replicate", None) is not None:
        while len(cache.layers) <= max(by_layer):
            cache.layers.append(cache.layer_class_to_replicate())
    for index, parts in by_layer.items():
        layer = cache.layers[index]
        if "key" in parts:
            layer.lazy_initialization(parts["key"], parts["value"])
            layer.keys, layer.values, layer.is_initialized = parts["key"], parts["value"], True
        if "conv" in parts:  # zeros before the first token are what a convolution of a prompt is padded with
            layer.lazy_initialization(conv_states=parts["conv"], state_idx=0)
            layer.conv_states[0] = parts["conv"].clone()
            layer.has_previous_state[0] = True
    return cache


def _results(cache: Any, states: Sequence[State]) -> dict[str, Any]:
    import torch

    results = {}
    for state in states:
        layer = cache.layers[state.layer]
        value = layer.conv_states[0] if state.part == "conv" else layer.keys if state.part == "key" else layer.values
        missing = state.size[-1] - state.held
        results[state.names[1]] = torch.nn.functional.pad(value, (0, missing)) if missing else value
    return results


def _decoder(model: Any, inputs: Sequence[str], states: Sequence[State], logits: str) -> Any:
    """A module with the states as arguments and as results."""
    import torch

    cache_argument = _cache_argument(model)

    class Decoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, past: Any, attention_mask: Any = None, position_ids: Any = None) -> dict[str, Any]:
            torch._check(attention_mask.shape[0] == input_ids.shape[0])  # type: ignore[no-untyped-call]
            given = {"attention_mask": attention_mask, "position_ids": position_ids}
            given = {name: given[name] for name in inputs}
            cache = _filled(_empty_cache(self.model), states, past)
            with contextlib.ExitStack() as stack:
                if logits == "last":
                    stack.enter_context(_last_token_only(self.model, attention_mask))
                stack.enter_context(_windows_of_tokens(attention_mask, input_ids.shape[1]))
                result = self.model(input_ids=input_ids, **given, **{cache_argument: cache}, use_cache=True)
            return {"logits": result.logits} | _results(getattr(result, cache_argument), states)

    return Decoder().eval()


@contextlib.contextmanager
def _last_token_only(model: Any, attention_mask: Any) -> Iterator[None]:
    """The head gets the last token of each text alone: of the new ones, the last that is no padding."""
    import torch

    head = model.get_output_embeddings()
    if head is None:
        raise AtonError(f"{type(model).__name__}: has no head of its own, so that logits of all tokens are computed")

    def select(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        hidden = args[0]
        length = hidden.shape[1]
        new = attention_mask[:, -length:] != 0
        place = torch.where(new, torch.arange(length, device=hidden.device), 0).amax(1, keepdim=True)
        return (hidden.gather(1, place[:, :, None].expand(-1, 1, hidden.shape[2])), *args[1:])

    hook = head.register_forward_pre_hook(select)
    try:
        yield
    finally:
        hook.remove()


@contextlib.contextmanager
def _windows_of_tokens(attention_mask: Any, new: int) -> Iterator[None]:
    """Sliding windows leave out padding, wherever it is."""
    import transformers.masking_utils as masks

    original = masks.sliding_window_overlay
    counted = attention_mask.cumsum(1)

    def overlay(window: int) -> Callable[..., Any]:
        return lambda batch, head, query, key: counted[:, None, -new:, None] - counted[:, None, None, :] < window

    masks.sliding_window_overlay = overlay
    try:
        yield
    finally:
        masks.sliding_window_overlay = original


@contextlib.contextmanager
def _exportable(model: Any, positions: int) -> Iterator[None]:
    """The model in a form that torch.export records completely, until the block ends."""
    from transformers.exporters.exporter_dynamo import reset_model_state
    from transformers.exporters.utils import apply_patches

    with contextlib.ExitStack() as stack:
        stack.enter_context(apply_patches("dynamo"))
        stack.enter_context(reset_model_state(model))
        implementation = model.config._attn_implementation
        if implementation not in (None, "sdpa", "eager"):
            model.set_attn_implementation("sdpa" if model._supports_sdpa else "eager")
            stack.callback(model.set_attn_implementation, implementation)
        for module in model.modules():
            if isinstance(getattr(module, "rope_type", None), (str, dict)) and "forward" not in vars(module):
                module.forward = _with_tables(module, _without_memory(module), positions)
                stack.callback(delattr, module, "forward")
        yield


class _WithFrequencies:
    """A rotary embedding with other frequencies than its own."""

    def __init__(self, module: Any, name: str, frequencies: Any, scaling: Any) -> None:
        self._module, self._own = module, {name: frequencies}
        if scaling is not None:
            self._own["attention_scaling"] = scaling

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__["_own"]
        return own[name] if name in own else getattr(self.__dict__["_module"], name)


def _without_memory(module: Any) -> Callable[..., Any]:
    """The forward call of a rotary embedding whose frequencies depend on the length of the text: computed from the positions
    of each call, where the module remembers them in its buffers. Both are the same, because texts only become longer."""
    import torch
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    plain = inspect.unwrap(type(module).forward)

    @functools.wraps(type(module).forward)
    def forward(x: Any, position_ids: Any, layer_type: Any = None) -> Any:
        kind = module.rope_type if layer_type is None else module.rope_type[layer_type]
        more = {} if layer_type is None else {"layer_type": layer_type}
        prefix = "" if layer_type is None else f"{layer_type}_"
        used, scaling = module, None
        if "dynamic" in kind or kind == "longrope":
            length = position_ids.max() + 1
            original = getattr(module, f"{prefix}original_inv_freq").to(x.device)
            compute = functools.partial(ROPE_INIT_FUNCTIONS[kind], module.config, x.device, **more)
            if kind == "longrope":
                parameters = module.config.rope_parameters
                limit = (parameters if layer_type is None else parameters[layer_type])["original_max_position_embeddings"]
                frequencies = torch.where(length > limit, compute(seq_len=limit + 1)[0].to(x.device), original)
            else:
                frequencies, scaling = compute(seq_len=length)
            used = _WithFrequencies(module, f"{prefix}inv_freq", frequencies, scaling)
        return plain(used, x, position_ids, **more)

    return forward


def _with_tables(module: Any, forward: Callable[..., Any], positions: int) -> Callable[..., Any]:
    """The forward call of a rotary embedding that takes cosines and sines from tables, where its halves are equal and do not
    depend on the length of the text; `forward` for the others."""
    import torch

    kinds = module.rope_type if isinstance(module.rope_type, dict) else {None: module.rope_type}
    tables: dict[Any, tuple[Any, ...]] = {}
    for layer_type, kind in kinds.items():
        if not positions or "dynamic" in kind or kind == "longrope":
            continue
        places = torch.arange(positions, device=next(iter(module.buffers())).device)[None]
        more = {} if layer_type is None else {"layer_type": layer_type}
        made = forward(torch.zeros(1, device=places.device), places, **more)
        halves = [each.chunk(2, -1) for each in made]
        is_row_of_each = all(each.dim() == 3 and each.shape[:2] == places.shape for each in made)
        if is_row_of_each and all(torch.equal(*pair) for pair in halves):
            tables[layer_type] = tuple(first[0].contiguous() for first, _ in halves)
    if not tables:
        return forward

    @functools.wraps(forward)
    def looked_up(x: Any, position_ids: Any, layer_type: Any = None) -> Any:
        if layer_type not in tables or position_ids.dim() != 2:
            return forward(x, position_ids, **({} if layer_type is None else {"layer_type": layer_type}))
        rows = (torch.nn.functional.embedding(position_ids, table.to(x.dtype)) for table in tables[layer_type])
        return tuple(torch.cat((row, row), -1) for row in rows)

    return looked_up


def _drop_changed_buffers(program: Any) -> None:
    """Removes results that are new values of buffers: what a model remembers is in its states."""
    import torch
    from torch.export.graph_signature import OutputKind

    signature = program.graph_signature
    kinds = [each.kind for each in signature.output_specs]
    if OutputKind.BUFFER_MUTATION not in kinds:
        return
    graph: torch.fx.Graph = program.graph
    output = next(node for node in graph.nodes if node.op == "output")
    kept = [place for place, kind in enumerate(kinds) if kind != OutputKind.BUFFER_MUTATION]
    output.args = (tuple(output.args[0][place] for place in kept),)
    signature.output_specs = [signature.output_specs[place] for place in kept]
    graph.eliminate_dead_code()
    program.graph_module.recompile()
