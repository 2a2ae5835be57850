# SPDX-License-Identifier: MIT
"""Exports a language model of transformers to a folder that a generator runs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import sys
import tempfile
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._decoder import Captured, capture
from ._errors import AtonError
from ._export import Report, export
from ._generator_config import appending_attentions, context_length, generator_config

if TYPE_CHECKING:
    from ._command import Path

#: The default, the first with Attention, RMSNormalization and RotaryEmbedding that has caches of any length.
OPSET = 24
#: What weights and results are made of.
PRECISIONS = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
#: Precisions of weights of products, which are rounded from float32: as --quantize.
QUANTIZED = {"int8": "int8:block=64:symmetric", "int4": "int4:block=32:symmetric"}
#: The target of which attention appends to the cache as onnxruntime-genai expects it.
GENERATOR = "onnxruntime-genai"
#: In ONNX Runtime, products round the other operand to int8, as its generators' own models do.
_ACCURACY = ":accuracy=4"
#: Files of a tokenizer, and of the configuration that its users read beside the model.
_TOKENIZER = (
    "*token*.json", "tokenizer*.model", "spiece.model", "sentencepiece*.model", "*.tiktoken", "vocab.*", "merges.txt",
    "chat_template*", "additional_chat_templates",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, kw_only=True)
class LanguageModelReport(Report):
    """What `export_language_model` wrote. Notebooks show it as a table."""

    folder: pathlib.Path
    generator_type: str  #: `model.type` of genai_config.json
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    files: tuple[str, ...]  #: of the folder


def export_language_model(
    model: Any,
    out: Path,
    *,
    precision: str = "fp32",
    target: str | None = None,
    opset: int | None = None,
    logits: Literal["all", "last"] = "all",
    tokenizer: Any = None,
    plugins: Sequence[Path] = (),
) -> LanguageModelReport:
    """Writes a language model to the folder `out`, as onnxruntime-genai loads it: `model.onnx`, its weights in
    `model.onnx.data`, `genai_config.json`, the configurations of transformers and the files of the tokenizer.

    `model` is a folder with a checkpoint of transformers, or a model with a head for the next token. Its one graph takes
    `input_ids`, `attention_mask`, `position_ids` and `past_key_values.0.key`, ..., and gives `logits` and `present.0.key`,
    ... Batch, number of new tokens and length of the past, which may be 0, are dynamic.

    `precision` is "fp32", "fp16" or "bf16". With "int8" and "int4" everything is float32 but the weights of products, which
    are rounded to the nearest integers, in blocks of 64 and 32 with a scale and without a zero point; embeddings are not.
    `target="onnxruntime"` uses operators of ONNX Runtime's own. `target="onnxruntime-genai"` also uses its attention for
    decoders, which is right only for prompts that are padded on the right and continued by one token after the other. With
    `logits="last"` the head computes the last token of each text only, padding aside. `tokenizer` is saved to the folder;
    from a checkpoint its files are copied. `plugins` are those of `aton_onnx.export`.

    Raises AtonError for a model that cannot be written like this, and UnconvertibleError for operators that cannot be
    converted; then nothing is written. The model is not changed.
    """
    import torch

    if logits not in ("all", "last"):
        raise ValueError(f'logits={logits!r}: pass "all" or "last"')
    source, loaded = _loaded(model, precision)
    text = loaded.config.get_text_config(decoder=True)
    captured = capture(loaded, logits, context_length(text) if target == GENERATOR else 0)
    folder = pathlib.Path(os.fspath(out))
    if folder.exists() and not folder.is_dir():
        raise AtonError(f"{folder}: is not a folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as name:
        made = pathlib.Path(name, "made")
        made.mkdir()
        program = pathlib.Path(name, f"{type(loaded).__name__}.pt2")
        torch.export.save(captured.program, program)
        report = _exported(captured, program, made / "model.onnx", precision, target, opset, plugins)
        described = generator_config(
            text,
            loaded.generation_config,
            captured.inputs,
            captured.states,
            vocabulary=_vocabulary(captured),
            shares_buffer=appending_attentions(made / "model.onnx") * 2 == len(captured.states),
        )
        (made / "genai_config.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
        loaded.config.save_pretrained(made)
        if loaded.generation_config is not None:
            loaded.generation_config.save_pretrained(made)
        if tokenizer is not None:
            tokenizer.save_pretrained(made)
        elif source is not None:
            _copy_tokenizer(source, made)
        files = tuple(sorted(each.name for each in made.iterdir()))
        _publish(made, folder)
    fields = {each.name: getattr(report, each.name) for each in dataclasses.fields(report)} | {"path": folder / "model.onnx"}
    return LanguageModelReport(
        **fields,
        folder=folder,
        generator_type=described["model"]["type"],
        inputs=(*captured.inputs, *(each.names[0] for each in captured.states)),
        outputs=("logits", *(each.names[1] for each in captured.states)),
        files=files,
    )


def _loaded(model: Any, precision: str) -> tuple[pathlib.Path | None, Any]:
    """The folder of a checkpoint, if it is one, and the model in that precision."""
    import torch
    import transformers

    if precision not in PRECISIONS and precision not in QUANTIZED:
        raise ValueError(f"precision={precision!r}: pass one of {', '.join(map(repr, (*PRECISIONS, *QUANTIZED)))}")
    dtype = getattr(torch, PRECISIONS.get(precision, "float32"))
    if isinstance(model, (str, os.PathLike)):
        source = pathlib.Path(os.fspath(model))
        if not (source / "config.json").is_file():
            raise AtonError(f"{source}: has no config.json; pass the folder of a checkpoint of transformers, or a model")
        config = transformers.AutoConfig.from_pretrained(source, local_files_only=True)
        _check_kind(str(source), config, type(config) in transformers.MODEL_FOR_CAUSAL_LM_MAPPING)
        loaded = transformers.AutoModelForCausalLM.from_pretrained(source, config=config, dtype=dtype, local_files_only=True)
        return source, loaded.eval()
    if not isinstance(model, transformers.PreTrainedModel):
        raise TypeError(f"expected a model of transformers or the folder of a checkpoint, not {type(model).__name__}")
    _check_kind(type(model).__name__, model.config, model.get_output_embeddings() is not None)
    if model.dtype != dtype:  # as from_pretrained does, which keeps some weights in float32
        weights = model.state_dict()
        model = type(model).from_pretrained(None, config=model.config, state_dict=weights, dtype=dtype)
    elif model.training:
        raise AtonError(f"{type(model).__name__}: is in training mode; call model.eval() first")
    return None, model.eval()


def _check_kind(name: str, config: Any, has_head: bool) -> None:
    """Raises AtonError for what is not a decoder of text."""
    if getattr(config, "is_encoder_decoder", False):
        raise AtonError(f"{name}: {config.model_type} has an encoder and a decoder; export both with AtonExporter")
    if not has_head:
        raise AtonError(
            f"{name}: {config.model_type} has no head for the next token; pass a model for causal language modeling"
        )
    quantized = getattr(config, "quantization_config", None)
    if quantized is not None:
        method = quantized.get("quant_method") if isinstance(quantized, dict) else getattr(quantized, "quant_method", None)
        raise AtonError(
            f"{name}: its weights are quantized ({getattr(method, 'value', method)}); export one with other weights"
        )


def _exported(
    captured: Captured,
    program: pathlib.Path,
    path: pathlib.Path,
    precision: str,
    target: str | None,
    opset: int | None,
    plugins: Sequence[Path],
) -> Report:
    """Exports the program with the names that generators know."""
    quantize = QUANTIZED.get(precision)
    if quantize is not None and target in ("onnxruntime", GENERATOR):
        quantize += _ACCURACY
    rename = {f"past_{each.argument}": each.names[0] for each in captured.states}
    dims = _sizes(captured)
    try:
        return export(
            program,
            path,
            opset_version=OPSET if opset is None else opset,
            weights="external",
            target="onnx" if target is None else target,
            dims=dims,
            rename=rename,
            quantize=quantize,
            plugins=plugins,
        )
    except AtonError as error:  # nobody knows the temporary file
        error.args = (str(error).replace(str(program), program.stem), *error.args[1:])
        raise


def _sizes(captured: Captured) -> dict[tuple[str, int], str]:
    """The names of the dynamic dimensions. One that the program computes from others has none."""
    first = next(each for each in captured.states if each.grows)
    wanted = {
        ("input_ids", 0): "batch_size",
        ("input_ids", 1): "sequence_length",
        (f"past_{first.argument}", 2): "past_sequence_length",
        ("attention_mask", 1): "total_sequence_length",
    }
    values = {node.name: node.meta["val"] for node in captured.program.graph.nodes if node.op == "placeholder"}
    named: dict[tuple[str, int], str] = {}
    symbols = set()
    for (name, axis), dim in wanted.items():
        symbol = getattr(getattr(values[name].shape[axis], "node", None), "expr", None)
        if getattr(symbol, "is_Symbol", False) and symbol not in symbols:
            named[name, axis] = dim
            symbols.add(symbol)
    return named


def _vocabulary(captured: Captured) -> int:
    """The number of logits, which may differ from the number of tokens of the configuration."""
    output = next(node for node in captured.program.graph.nodes if node.op == "output")
    place = [each.arg.name for each in captured.program.graph_signature.output_specs]
    values = dict(zip(place, output.args[0], strict=True))
    logits = values[captured.program.graph_signature.user_outputs[0]]
    return int(logits.meta["val"].shape[-1])


def _copy_tokenizer(source: pathlib.Path, folder: pathlib.Path) -> None:
    for path in sorted({path for pattern in _TOKENIZER for path in source.glob(pattern)}):
        if path.is_dir():
            shutil.copytree(path, folder / path.name)
        elif not path.name.endswith(".index.json"):
            shutil.copyfile(path, folder / path.name)


def _publish(made: pathlib.Path, folder: pathlib.Path) -> None:
    """Moves the complete files to their folder."""
    if not folder.exists():
        os.rename(made, folder)
        return
    for path in sorted(made.iterdir()):
        if (folder / path.name).is_dir():
            shutil.rmtree(folder / path.name)
        os.replace(path, folder / path.name)


def main(arguments: Sequence[str]) -> int:
    """The command `python -m aton_onnx language-model`."""
    parser = argparse.ArgumentParser(
        prog="aton language-model",
        description="Write a language model of transformers to a folder that onnxruntime-genai loads, with torch.",
    )
    option = parser.add_argument
    option("folder", metavar="FOLDER", help="a checkpoint of transformers: config.json, *.safetensors, tokenizer")
    option("-o", "--output", metavar="OUT", required=True, help="the folder that is written")
    option("--precision", choices=[*PRECISIONS, *QUANTIZED], default="fp32", help="of weights and results; default: fp32")
    option(
        "--target",
        metavar="NAME",
        help="onnxruntime: use its own operators; onnxruntime-genai: also those that only generators feed; default: "
        "operators of ONNX",
    )
    option("--opset", type=int, default=OPSET, help=f"the opset of ai.onnx; default: {OPSET}")
    option(
        "--logits", choices=["all", "last"], default="all", help="of all tokens, or of the last of each text; default: all"
    )
    option("--plugin", metavar="FILE", action="append", default=[], help="a library with mappings; may be repeated")
    option("-q", "--quiet", action="store_true", help="print nothing on success, not even warnings")
    given = parser.parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = export_language_model(
                given.folder,
                given.output,
                precision=given.precision,
                target=given.target,
                opset=given.opset,
                logits=given.logits,
                plugins=given.plugin,
            )
    except ModuleNotFoundError as error:
        print(f"aton: language-model needs torch and transformers: {error}", file=sys.stderr)
        return 1
    except (AtonError, OSError) as error:
        print(f"aton: {error}", file=sys.stderr)
        return 1
    if not given.quiet:
        for warned in report.warnings:
            print(f"warning: {warned.text}", file=sys.stderr)
        print(
            f"{report.folder}: {report.nodes} nodes, opset {report.opset}, {report.weight_bytes:,} bytes of weights, "
            f"model.type {report.generator_type}"
        )
    return 0
