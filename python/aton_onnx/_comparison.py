# SPDX-License-Identifier: MIT
"""Compares the texts that an exported language model continues with those of torch."""

from __future__ import annotations

import dataclasses
import html
import importlib.util
import json
import os
import pathlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._errors import AtonError
from ._generator_config import appending_attentions

if TYPE_CHECKING:
    from ._command import Path

#: The lengths of the prompts that are drawn.
_LENGTHS = (3, 5, 8)


@dataclasses.dataclass(frozen=True)
class Generated:
    """What one text, or one batch of texts, was continued with."""

    prompts: tuple[tuple[int, ...], ...]
    expected: tuple[tuple[int, ...], ...]  #: torch's tokens
    tokens: tuple[tuple[int, ...], ...]
    largest_error: float  #: of the logits of the prompt's last tokens, beside the largest logit of torch
    seconds_to_first: float
    tokens_per_second: float  #: after the first, of all texts together
    torch_seconds_to_first: float
    torch_tokens_per_second: float

    @property
    def first_difference(self) -> tuple[int, int] | None:
        """The text and the position of the first token that differs."""
        pairs = [zip(*both, strict=False) for both in zip(self.expected, self.tokens, strict=True)]
        different = ((place, text) for text, pair in enumerate(pairs) for place, (a, b) in enumerate(pair) if a != b)
        place, text = min(different, default=(None, None))
        return None if place is None or text is None else (text, place)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What `compare` found. Notebooks show it as a table."""

    runtime: str  #: "onnxruntime-genai 0.18.0" or "onnxruntime 1.31.1"
    results: tuple[Generated, ...]  #: of each text alone, and of all texts as a batch

    @property
    def passed(self) -> bool:
        """Whether all tokens are those of torch."""
        return all(each.first_difference is None for each in self.results)

    @property
    def text(self) -> str:
        """One line."""
        total = sum(len(tokens) for each in self.results for tokens in each.expected)
        error = max(each.largest_error for each in self.results)
        for number, each in enumerate(self.results, 1):
            if each.first_difference is not None:
                text, place = each.first_difference
                what = f"text {number}" if len(each.prompts) == 1 else f"text {text + 1} of the batch"
                return (
                    f"{self.runtime}: {what} differs from token {place + 1} on: {each.tokens[text][place]}, torch has "
                    f"{each.expected[text][place]}; largest error of logits {error:.1e}"
                )
        return f"{self.runtime}: {total} tokens as torch's; largest error of logits {error:.1e}"

    def _repr_html_(self) -> str:
        names = (
            "prompts",
            "tokens",
            "first difference",
            "error of logits",
            "first token",
            "tokens/s",
            "torch",
            "torch: tokens/s",
        )
        head = "".join(f"<th>{each}</th>" for each in names)
        cells = (
            (
                len(each.prompts),
                sum(map(len, each.tokens)),
                each.first_difference or "none",
                f"{each.largest_error:.1e}",
                f"{each.seconds_to_first * 1e3:.1f} ms",
                f"{each.tokens_per_second:.0f}",
                f"{each.torch_seconds_to_first * 1e3:.1f} ms",
                f"{each.torch_tokens_per_second:.0f}",
            )
            for each in self.results
        )
        rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
        return f"<p>{html.escape(self.text)}</p><table><tr>{head}</tr>{rows}</table>"


def compare(
    folder: Path,
    model: Any,
    prompts: Sequence[Sequence[int] | str] | None = None,
    *,
    max_new_tokens: int = 64,
    runtime: Literal["onnxruntime-genai", "onnxruntime"] | None = None,
) -> Comparison:
    """Continues texts greedily, with a folder of `export_language_model` and with the model in torch, and compares tokens.

    `model` is the model of transformers, or the folder of its checkpoint. `prompts` are lists of tokens, or texts for the
    tokenizer in the folder; without them, three are drawn. Each is continued alone, then all as one batch. torch and ONNX
    Runtime get the shorter ones padded on the left, onnxruntime-genai on the right. `runtime` is onnxruntime-genai where it
    is installed. A text does not end early: tokens that end texts are not chosen.

    Raises AtonError if the runtime does not load the folder, and for texts longer than the model's context.
    """
    import torch

    path = pathlib.Path(os.fspath(folder))
    described = json.loads((path / "genai_config.json").read_text(encoding="utf-8"))["model"]
    if isinstance(model, (str, os.PathLike)):
        import transformers

        model = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, local_files_only=True).eval()
    ids = _tokens_of(path, prompts, described["vocab_size"])
    most = max(map(len, ids)) + max_new_tokens
    if most > described["context_length"]:
        raise AtonError(f"{path}: texts of {most} tokens are longer than its context of {described['context_length']}")
    if runtime is None:
        runtime = "onnxruntime-genai" if importlib.util.find_spec("onnxruntime_genai") else "onnxruntime"
    made: _GenAi | _Session = (_GenAi if runtime == "onnxruntime-genai" else _Session)(path, described)
    padding, ends = described.get("pad_token_id", 0), _ends(described)
    batches = [(each,) for each in ids] + ([ids] if len(ids) > 1 else [])
    return Comparison(made.name, tuple(_compared(made, model, batch, max_new_tokens, padding, ends) for batch in batches))


def _tokens_of(
    folder: pathlib.Path, prompts: Sequence[Sequence[int] | str] | None, vocabulary: int
) -> tuple[tuple[int, ...], ...]:
    import torch

    if prompts is None:
        generator = torch.Generator().manual_seed(7)
        drawn = (torch.randint(3, vocabulary, (length,), generator=generator) for length in _LENGTHS)
        return tuple(tuple(each.tolist()) for each in drawn)
    if any(isinstance(each, str) for each in prompts):
        import transformers

        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        prompts = [tokenizer(each)["input_ids"] if isinstance(each, str) else each for each in prompts]
    return tuple(tuple(map(int, each)) for each in prompts)


def _ends(described: dict[str, Any]) -> list[int]:
    """The tokens that end a text."""
    found = described.get("eos_token_id")
    return [] if found is None else found if isinstance(found, list) else [found]


def _compared(
    runtime: _GenAi | _Session,
    model: Any,
    prompts: Sequence[tuple[int, ...]],
    count: int,
    padding: int,
    ends: list[int],
) -> Generated:
    import numpy as np

    expected, truth, first, rest = _torch(model, prompts, count, padding, ends)
    tokens, logits, own_first, own_rest = runtime.run(prompts, count, padding)
    error = np.abs(logits - truth).max() / np.abs(truth).max()
    many = len(prompts) * (count - 1)
    return Generated(
        tuple(prompts),
        expected,
        tokens,
        float(error),
        own_first,
        many / own_rest if own_rest else 0.0,
        first,
        many / rest if rest else 0.0,
    )


def _padded(prompts: Sequence[tuple[int, ...]], padding: int, side: str) -> tuple[Any, Any]:
    """Tokens and mask of texts of different lengths."""
    import numpy as np

    most = max(map(len, prompts))
    ids = np.full((len(prompts), most), padding, np.int64)
    mask = np.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        place = slice(most - len(prompt), most) if side == "left" else slice(len(prompt))
        ids[row, place], mask[row, place] = prompt, 1
    return ids, mask


def _torch(
    model: Any, prompts: Sequence[tuple[int, ...]], count: int, padding: int, ends: list[int]
) -> tuple[Any, Any, float, float]:
    """The tokens of generate(), the logits for the first of them, and the times for it and for the others."""
    import torch

    ids, mask = (torch.from_numpy(each).to(model.device) for each in _padded(prompts, padding, "left"))
    options = {
        "do_sample": False,
        "num_beams": 1,
        "pad_token_id": padding,
        "eos_token_id": ends or None,
        "repetition_penalty": 1.0,
    }
    with torch.no_grad():
        start = time.perf_counter()
        one = model.generate(
            ids,
            attention_mask=mask,
            max_new_tokens=1,
            min_new_tokens=1,
            output_logits=True,
            return_dict_in_generate=True,
            **options,
        )
        first = time.perf_counter() - start
        start = time.perf_counter()
        every = model.generate(ids, attention_mask=mask, max_new_tokens=count, min_new_tokens=count, **options)
        rest = max(time.perf_counter() - start - first, 0.0)
    tokens = tuple(tuple(row) for row in every[:, ids.shape[1] :].tolist())
    return tokens, one.logits[0].float().cpu().numpy(), first, rest


class _GenAi:
    """onnxruntime-genai, which pads texts on the right."""

    def __init__(self, folder: pathlib.Path, _: dict[str, Any]) -> None:
        import onnxruntime_genai

        self.library = onnxruntime_genai
        self.name = f"onnxruntime-genai {onnxruntime_genai.__version__}"
        try:
            self.model = onnxruntime_genai.Model(str(folder))
        except Exception as error:
            raise AtonError(f"{folder}: onnxruntime-genai does not load it: {error}") from error

    def run(self, prompts: Sequence[tuple[int, ...]], count: int, padding: int) -> tuple[Any, Any, float, float]:
        import numpy as np

        ids, mask = _padded(prompts, padding, "right")
        parameters = self.library.GeneratorParams(self.model)
        length = ids.shape[1] + count
        parameters.set_search_options(
            max_length=length,
            min_length=length,
            batch_size=len(prompts),
            do_sample=False,
            num_beams=1,
            repetition_penalty=1.0,
        )
        generator = self.library.Generator(self.model, parameters)
        start = time.perf_counter()
        generator.append_tokens(ids.astype(np.int32))
        logits = np.array(generator.get_logits()).reshape(len(prompts), -1)
        generator.generate_next_token()
        first = time.perf_counter() - start
        start = time.perf_counter()
        for _ in range(count - 1):
            generator.generate_next_token()
        rest = time.perf_counter() - start
        rows = (generator.get_sequence(row)[ids.shape[1] :].tolist() for row in range(len(prompts)))
        return tuple(tuple(row[:count]) for row in rows), logits, first, rest


class _Session:
    """A loop of its own around ONNX Runtime, with padding on the left, or on the right where the cache is appended to in
    place."""

    def __init__(self, folder: pathlib.Path, described: dict[str, Any]) -> None:
        import onnxruntime

        self.name = f"onnxruntime {onnxruntime.__version__}"
        self.ends = _ends(described)
        self.side = "right" if appending_attentions(folder / "model.onnx") else "left"
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise AtonError(f"{folder / 'model.onnx'}: ONNX Runtime does not load it: {error}") from error

    def run(self, prompts: Sequence[tuple[int, ...]], count: int, padding: int) -> tuple[Any, Any, float, float]:
        import numpy as np

        given, mask = _padded(prompts, padding, self.side)
        ends = mask.shape[1] - 1 - mask[:, ::-1].argmax(1)  # of the prompts
        kinds = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
        inputs, outputs = self.session.get_inputs(), [each.name for each in self.session.get_outputs()]
        feed = {}
        for each in inputs:
            if each.name.startswith("past"):
                sizes = (size if isinstance(size, int) else 0 for size in each.shape[1:])
                feed[each.name] = np.zeros([len(prompts), *sizes], kinds[each.type])
        names = {each.name for each in inputs}
        tokens, times, logits = [], [time.perf_counter()], None
        for _ in range(count):
            positions = np.maximum(mask.cumsum(1) - 1, 0)[:, -given.shape[1] :]
            text = {"input_ids": given, "attention_mask": mask, "position_ids": positions}
            taken = {name: value for name, value in text.items() if name in names}
            results = dict(zip(outputs, self.session.run(outputs, taken | feed), strict=True))
            every = results["logits"]
            last = np.take_along_axis(every, np.minimum(ends, every.shape[1] - 1)[:, None, None], 1)[:, 0].astype(np.float32)
            logits = last if logits is None else logits
            allowed = last.copy()
            allowed[:, self.ends] = -np.inf
            given = allowed.argmax(-1)[:, None]
            mask = np.concatenate([mask, np.ones_like(given)], 1)
            feed = {name: results[_present(name)] for name in feed}
            tokens.append(given)
            times.append(time.perf_counter())
        rows = np.concatenate(tokens, 1).tolist()
        return tuple(tuple(row) for row in rows), logits, times[1] - times[0], times[-1] - times[1]


def _present(name: str) -> str:
    """The output that is the new value of a state."""
    return name.replace("past_key_values" if name.startswith("past_key_values") else "past", "present", 1)
