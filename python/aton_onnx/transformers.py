# SPDX-License-Identifier: MIT
"""Aton as an exporter of transformers.

    from aton_onnx.transformers import AtonExporter
    report = AtonExporter().export_to("exported", model, {"input_ids": ids, "attention_mask": mask}, dynamic=True)
    print(report.components["decode"].nodes)

`export_language_model` writes a folder that onnxruntime-genai loads, and `compare` compares what it generates with torch.

This module needs a transformers that has `transformers.exporters`, such as 5.23, and what `torch_export` needs.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import html
import inspect
import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ._comparison import Comparison, Generated, compare
from ._export import Report
from ._language_model import LanguageModelReport, export_language_model
from ._torch_export import torch_export

try:
    from transformers.exporters.base import ExportedModel
    from transformers.exporters.exporter_dynamo import DynamoExporter
    from transformers.exporters.exporter_onnx import OnnxConfig, OnnxExporter
    from transformers.exporters.metadata import record_output_structure
    from transformers.exporters.utils import (
        decompose_multimodal,
        disambiguate_io_names,
        is_multimodal,
        patch_model_outputs,
        quantize_converted_model,
    )
except ModuleNotFoundError as error:
    raise ImportError(f"aton_onnx.transformers needs transformers 5.23 or later, with torch: {error}") from error

if TYPE_CHECKING:
    from ._command import Path

__all__ = [
    "AtonConfig",
    "AtonExporter",
    "Comparison",
    "FolderReport",
    "Generated",
    "LanguageModelReport",
    "compare",
    "export_language_model",
]


@dataclasses.dataclass
class AtonConfig(OnnxConfig):
    """What to export, and how: the fields of transformers' OnnxConfig, and two options of `aton_onnx.export`.

    `ort_fusions` is refused, because Aton writes operators of ONNX only.
    """

    plugins: tuple[str, ...] = ()
    nan: Literal["fast", "exact"] = "fast"

    def __post_init__(self) -> None:
        """Raises ValueError for what Aton does not do."""
        super().__post_init__()
        if self.ort_fusions is not None:
            raise ValueError("ort_fusions: Aton writes operators of ONNX only; leave it out, or use OnnxExporter")


@dataclasses.dataclass(frozen=True)
class FolderReport:
    """What `AtonExporter.export_to` wrote. Notebooks show it as a table."""

    path: pathlib.Path
    components: dict[str, Report]

    def _repr_html_(self) -> str:
        cells = (
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(each.path))}</td><td>{each.nodes}</td>"
            f"<td>{each.weight_bytes:,}</td><td>{each.seconds * 1e3:.1f} ms</td></tr>"
            for name, each in self.components.items()
        )
        head = "<tr><th>component</th><th>file</th><th>nodes</th><th>bytes of weights</th><th>time</th></tr>"
        return f"<table>{head}{''.join(cells)}</table>"

    def to_json(self) -> str:
        """The facts of every component, as the file `aton.json` in the folder has them."""
        facts = {
            name: {
                "file": each.path.name,
                "opset": each.opset,
                "nodes": each.nodes,
                "weights": each.weights,
                "weight_bytes": each.weight_bytes,
                "seconds": each.seconds,
                "warnings": [warned.text for warned in each.warnings],
            }
            for name, each in self.components.items()
        }
        return json.dumps(facts, indent=2) + "\n"


class AtonExporter(OnnxExporter):
    """Exports models of transformers with Aton. Programs, files and metadata are those of OnnxExporter: transformers loads
    and runs what `save_pretrained` writes, without Aton.

    `reports` has the `Report` of each component of the last export.
    """

    config_class = AtonConfig
    tested_versions = {"torch": "2.13.0"}

    def __init__(self) -> None:
        """Raises ImportError if a package that transformers' OnnxExporter needs is missing."""
        super().__init__()
        self.reports: dict[str, Report] = {}
        self._made: list[Report] = []

    def export_program(self, model: Any, sample_inputs: Any, config: Any) -> tuple[Any, Any]:
        """One graph, as an onnx_ir.Model, and what transformers records about it.

        Raises AtonError for a model that Aton refuses, and what torch.export raises.
        """
        with patch_model_outputs(model) as (inputs, outputs, traced):
            program, metadata = DynamoExporter.export_program(self, model, sample_inputs, config)
        inputs, outputs = disambiguate_io_names(inputs, outputs)
        exported = torch_export(
            program,
            input_names=inputs,
            output_names=outputs,
            opset_version=config.opset_version,
            optimize=config.optimize,
            plugins=config.plugins,
            nan=config.nan,
        )
        self._made.append(exported.aton_report)
        _remove_outputs_after(exported.model, len(outputs))
        exported.model.meta["aton"] = exported  # it keeps the files of the weights
        converted = quantize_converted_model(exported.model, sample_inputs, config)
        record_output_structure(metadata, traced[-1])
        return converted, metadata

    def export(self, model: Any, sample_inputs: Any, config: Any) -> Any:
        """The model as one graph, the component "model"."""
        with self._collecting() as exported:
            exported.append(super().export(model, sample_inputs, config))
        return exported[0]

    def export_for_generation(self, model: Any, sample_inputs: Any, config: Any, **options: Any) -> Any:
        """One graph for each stage of `model.generate(**sample_inputs)`: prefill and decode, or decode and the parts of a
        model for images or audio; also the encoders that generate() runs before, which other exporters leave out.

        `config` is one for all components, or a dict of them by component.
        """
        with self._collecting() as exported:
            whole = super().export_for_generation(model, sample_inputs, config, **options)
            exported.append(whole)
            for name, (module, inputs) in _earlier_stages(model, sample_inputs, options.get("generation_config")).items():
                if name in whole.components:
                    continue
                own = config.get(name) if isinstance(config, Mapping) else config
                if own is None:
                    raise ValueError(f"config: no entry for the component {name}")
                if own.quantizer is not None and own.quantizer.calibration_dataset:
                    raise ValueError(f"config: the component {name} needs one of its own, with its calibration inputs")
                whole.components[name] = self._export_component(module, inputs, own)
        return whole

    def export_to(
        self,
        folder: Path,
        model: Any,
        sample_inputs: Mapping[str, Any],
        config: AtonConfig | None = None,
        *,
        generation: bool | None = None,
        **fields: Any,
    ) -> FolderReport:
        """Exports a model to a folder: the components, the configurations of transformers, `export.json` and `aton.json`.

        `sample_inputs` are those of `model.generate`, or of the model itself with `generation=False`, which is the default
        for a model that cannot generate. `fields` are those of `AtonConfig`, in place of `config`. Nothing is written if a
        component cannot be exported; the exception is that of `export_for_generation`, with an AtonError as its cause.
        """
        if config is not None and fields:
            raise TypeError(f"config has its own {next(iter(fields))}; pass either config or its fields")
        config = AtonConfig(**fields) if config is None else config
        can_generate = getattr(model, "can_generate", None)
        if generation is None:
            generation = bool(can_generate and can_generate())
        exported = (self.export_for_generation if generation else self.export)(model, dict(sample_inputs), config)
        path = pathlib.Path(os.fspath(folder))
        exported.save_pretrained(path)
        self.reports = {
            name: dataclasses.replace(each, path=path / f"{name}{self.program_suffix}")
            for name, each in self.reports.items()
        }
        report = FolderReport(path, self.reports)
        (path / "aton.json").write_text(report.to_json(), encoding="utf-8")
        return report

    @contextlib.contextmanager
    def _collecting(self) -> Iterator[list[ExportedModel]]:
        """Assigns the reports of the programs that are made to the components of the model that is appended."""
        exported: list[ExportedModel] = []
        self._made = []
        self.reports = {}
        yield exported
        self.reports = dict(zip(exported[0].components, self._made, strict=True))


def _earlier_stages(model: Any, inputs: Mapping[str, Any], generation_config: Any) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The encoders of a model, by the names that transformers gives to components, and what generate() passes to them."""
    if is_multimodal(model):
        return dict(decompose_multimodal(model, copy.deepcopy(dict(inputs))))
    if not getattr(model.config, "is_encoder_decoder", False):
        return {}
    encoder = model.get_encoder()
    signature = inspect.signature(encoder.forward)
    calls: list[dict[str, Any]] = []

    def record(_: Any, args: Any, kwargs: Any) -> None:
        given = signature.bind(*args, **kwargs).arguments
        for name, parameter in signature.parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                given.update(given.pop(name, {}))
        calls.append(copy.deepcopy(dict(given)))

    once = copy.deepcopy(model.generation_config if generation_config is None else generation_config)
    once.max_new_tokens = once.min_new_tokens = 1
    hook = encoder.register_forward_pre_hook(record, with_kwargs=True)
    try:
        model.generate(**copy.deepcopy(dict(inputs)), generation_config=once)
    finally:
        hook.remove()
    return {"encoder": (encoder, calls[0])} if calls else {}


def _remove_outputs_after(model: Any, count: int) -> None:
    """Removes the new values of changed inputs, such as static caches: the model returns them as well."""
    if len(model.graph.outputs) > count:
        import onnx_ir.passes.common as passes

        del model.graph.outputs[count:]
        passes.RemoveUnusedNodesPass()(model)
