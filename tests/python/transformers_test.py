# SPDX-License-Identifier: MIT
"""AtonExporter on tiny models of transformers: what a folder of components computes in ONNX Runtime is what torch computes.
Exits with 77 without torch or transformers.

usage: transformers_test.py ATON
"""

import copy
import importlib.util
import json
import logging
import os
import pathlib
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
os.environ["ATON_COMMAND"] = str(pathlib.Path(sys.argv[1]).resolve())
os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "tests" / "models")]
for package in ("torch", "transformers", "onnxscript"):
    if importlib.util.find_spec(package) is None:
        print(f"skipped: {package} is not installed (ATON_WITH_TORCH=1)")
        sys.exit(77)

import aton_onnx  # noqa: E402

assert "transformers" not in sys.modules, "import aton_onnx imports transformers"

import zoo_detection  # noqa: E402, F401  operators that transformers imports with torchvision
import torch  # noqa: E402
import transformers  # noqa: E402
from aton_onnx.transformers import AtonConfig, AtonExporter  # noqa: E402
from transformers.cache_utils import DynamicCache, EncoderDecoderCache  # noqa: E402
from transformers.exporters import ExportedModel, OnnxRuntimeDynamicConfig, OnnxRuntimeQuantizer  # noqa: E402
from transformers.exporters.utils import decompose_for_generation, get_leaf_tensors  # noqa: E402
from transformers.modeling_outputs import BaseModelOutput  # noqa: E402

logging.disable(logging.WARNING)
STEPS = 6
SMALL = {"vocab_size": 61, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "initializer_range": 0.3}  # fmt: skip
SPECIAL = {"bos_token_id": 1, "eos_token_id": None, "pad_token_id": 0}


def llama():
    torch.manual_seed(11)
    config = transformers.LlamaConfig(**SMALL, **SPECIAL, num_key_value_heads=2, max_position_embeddings=64)
    return transformers.LlamaForCausalLM(config).eval()


def bart():
    torch.manual_seed(12)
    config = transformers.BartConfig(
        vocab_size=61, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=2,
        encoder_ffn_dim=48, decoder_ffn_dim=40, max_position_embeddings=64, init_std=0.3, decoder_start_token_id=2,
        forced_eos_token_id=None, **SPECIAL,
    )  # fmt: skip
    return transformers.BartForConditionalGeneration(config).eval()


def llava():
    torch.manual_seed(13)
    vision = {"image_size": 24, "patch_size": 8, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 3,
              "num_attention_heads": 2, "initializer_range": 0.3}  # fmt: skip
    text = transformers.LlamaConfig(**SMALL, **SPECIAL, max_position_embeddings=64)
    config = transformers.LlavaConfig(vision_config=transformers.CLIPVisionConfig(**vision), text_config=text, image_token_index=60)
    return transformers.LlavaForConditionalGeneration(config).eval()


def words(batch, length, below=59):
    return torch.randint(3, below, (batch, length))


def run(runner, **values):
    return runner(**{name: value for name, value in values.items() if name in runner.metadata.kwargs})


class Exporter(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name, "exported")

    def near(self, results, truth, tolerance=1e-3):
        results, truth = get_leaf_tensors(results), get_leaf_tensors(truth)
        self.assertEqual(list(results), list(truth))
        for name, value in truth.items():
            self.assertEqual(results[name].dtype, value.dtype, name)
            torch.testing.assert_close(results[name], value, rtol=tolerance, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}")

    def test_a_decoder_writes_the_words_of_torch(self):
        model = llama()
        report = AtonExporter().export_to(self.path, model, {"input_ids": words(2, 7)}, dynamic=True)
        self.assertEqual(list(report.components), ["prefill", "decode"])
        loaded = ExportedModel.from_pretrained(self.path, device="cpu")
        for batch, length in ((2, 7), (3, 5), (1, 12)):
            ids = words(batch, length)
            truth = model.generate(ids, max_new_tokens=STEPS, min_new_tokens=STEPS, do_sample=False)
            positions = torch.arange(length).expand(batch, -1)
            out = run(loaded.runners["prefill"], input_ids=ids, position_ids=positions)
            found = [out.logits[:, -1].argmax(-1, keepdim=True)]
            for step in range(STEPS - 1):
                positions = torch.full((batch, 1), length + step)
                out = run(loaded.runners["decode"], input_ids=found[-1], position_ids=positions, past_key_values=out.past_key_values)
                self.assertIsInstance(out.past_key_values, DynamicCache)
                found.append(out.logits[:, -1:].argmax(-1))
            self.assertEqual(torch.cat(found, 1).tolist(), truth[:, length:].tolist())
            self.assertGreater(len(set(truth[0, length:].tolist())), 2)  # it does not repeat one word

    def test_an_encoder_and_its_decoder_write_the_words_of_torch(self):
        model = bart()
        inputs = {"input_ids": words(2, 9), "attention_mask": torch.ones(2, 9, dtype=torch.long)}
        inputs["attention_mask"][1, 6:] = 0
        inputs["decoder_input_ids"] = words(2, 3)  # of one word, torch.export makes a constant
        report = AtonExporter().export_to(self.path, model, inputs, dynamic=True, opset_version=18)
        self.assertEqual(set(report.components), {"encoder", "prefill", "decode"})
        loaded = ExportedModel.from_pretrained(self.path, device="cpu")
        ids, mask = words(3, 11), torch.ones(3, 11, dtype=torch.long)
        mask[0, 4:] = 0
        truth = model.generate(ids, attention_mask=mask, max_new_tokens=STEPS, min_new_tokens=STEPS, do_sample=False, num_beams=1)
        states = run(loaded.runners["encoder"], input_ids=ids, attention_mask=mask)
        with torch.no_grad():
            self.near(states, model.get_encoder()(ids, mask))
        given = {"attention_mask": mask, "encoder_outputs": BaseModelOutput(states.last_hidden_state)}
        empty = EncoderDecoderCache(DynamicCache(config=model.config), DynamicCache(config=model.config))
        out = run(loaded.runners["prefill"], decoder_input_ids=torch.full((3, 1), 2), past_key_values=empty, **given)
        found = [out.logits[:, -1:].argmax(-1)]
        for _ in range(STEPS - 1):
            out = run(loaded.runners["decode"], decoder_input_ids=found[-1], past_key_values=out.past_key_values, **given)
            found.append(out.logits[:, -1:].argmax(-1))
        self.assertEqual(torch.cat(found, 1).tolist(), truth[:, 1:].tolist())
        self.assertGreater(len(set(truth[:, 1:].flatten().tolist())), 2)

    def test_the_parts_of_a_model_for_images_give_its_logits(self):
        model = llava()
        ids = torch.cat([words(2, 2), torch.full((2, 9), 60), words(2, 4)], 1)
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": torch.randn(2, 3, 24, 24)}
        exporter = AtonExporter()
        report = exporter.export_to(self.path, model, inputs, AtonConfig(opset_version=23))
        self.assertEqual(set(report.components), {"image_encoder", "multi_modal_projector", "language_model", "lm_head", "decode"})
        self.assertEqual(exporter.reports, report.components)
        loaded = ExportedModel.from_pretrained(self.path, device="cpu").runners
        pixels = torch.randn(2, 3, 24, 24)
        with torch.no_grad():
            truth = model(input_ids=ids, attention_mask=inputs["attention_mask"], pixel_values=pixels, use_cache=True)
            features = run(loaded["image_encoder"], pixel_values=pixels).hidden_states[model.config.vision_feature_layer][:, 1:]
            images = run(loaded["multi_modal_projector"], image_features=features)
            embeds = model.get_input_embeddings()(ids)
        embeds = embeds.masked_scatter((ids == 60)[..., None], images)
        state = run(loaded["language_model"], inputs_embeds=embeds, attention_mask=inputs["attention_mask"],
                    position_ids=torch.arange(ids.shape[1]).expand(2, -1))  # fmt: skip
        logits = run(loaded["lm_head"], input=state.last_hidden_state)
        torch.testing.assert_close(logits, truth.logits, rtol=1e-3, atol=1e-3)
        self.near(state.past_key_values, truth.past_key_values)

    def test_a_static_cache(self):
        """Its new values are outputs once, though the program changes its inputs."""
        model = llama()
        config = copy.deepcopy(model.generation_config)
        config.cache_implementation, config.max_cache_len = "static", 16
        inputs = {"input_ids": words(2, 7)}
        exported = AtonExporter().export_for_generation(model, copy.deepcopy(inputs), AtonConfig(), generation_config=config)
        stages = decompose_for_generation(model, inputs, generation_config=config)
        self.assertEqual(list(exported.components), list(stages))
        for name, (module, given) in stages.items():
            names = [value.name for value in exported.components[name].program.graph.outputs]
            self.assertEqual(len(names), len(set(names)))
            self.assertFalse([each for each in names if each.endswith(".out")])
            results = run(exported.runners[name], **copy.deepcopy(given))
            with torch.no_grad():
                self.near(results, module(**given))

    def test_one_graph(self):
        torch.manual_seed(14)
        model = transformers.BertModel(transformers.BertConfig(**SMALL, max_position_embeddings=40)).eval()
        report = AtonExporter().export_to(self.path, model, {"input_ids": words(2, 7), "attention_mask": torch.ones(2, 7)}, dynamic=True)
        self.assertEqual(list(report.components), ["model"])
        ids, mask = words(3, 9), torch.ones(3, 9)
        mask[2, 5:] = 0
        with torch.no_grad():
            self.near(ExportedModel.from_pretrained(self.path)(input_ids=ids, attention_mask=mask), model(ids, mask))
        config = AtonConfig(quantizer=OnnxRuntimeQuantizer(OnnxRuntimeDynamicConfig()))
        quantized = AtonExporter().export(model, {"input_ids": ids, "attention_mask": mask}, config)
        self.assertIn("MatMulInteger", [node.op_type for node in quantized.program.graph])
        with torch.no_grad():
            self.near(quantized(input_ids=ids, attention_mask=mask), model(ids, mask), 0.5)

    def test_the_folder_and_its_report(self):
        report = AtonExporter().export_to(self.path, llama(), {"input_ids": words(2, 7)})
        self.assertEqual(
            sorted(each.name for each in self.path.iterdir()),
            ["aton.json", "config.json", "decode.onnx", "decode.onnx.data", "export.json", "prefill.onnx", "prefill.onnx.data"],
        )
        facts = json.loads((self.path / "aton.json").read_text())
        for name, each in report.components.items():
            self.assertEqual(each.path, self.path / f"{name}.onnx")
            self.assertEqual(facts[name]["nodes"], each.nodes)
            checked = aton_onnx.check(each.path)
            self.assertEqual((checked.ok, checked.nodes), (True, each.nodes))
            self.assertIn(f"<th>{name}</th>", report._repr_html_())
        sizes = sum(each.stat().st_size for each in self.path.glob("*.data"))
        self.assertGreater(sizes, 4 * 2 * sum(each.numel() for each in llama().parameters()) // 2)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "^ort_fusions: Aton writes"):
            AtonConfig(ort_fusions="cpu")
        with self.assertRaisesRegex(TypeError, "^config has its own dynamic"):
            AtonExporter().export_to(self.path, llama(), {"input_ids": words(2, 7)}, AtonConfig(), dynamic=True)
        exporter = AtonExporter()
        with self.assertRaisesRegex(RuntimeError, "failed on component 'prefill'") as caught:
            exporter.export_to(self.path, llama(), {"input_ids": words(2, 7)}, opset_version=99)
        self.assertIsInstance(caught.exception.__cause__, aton_onnx.AtonError)
        self.assertEqual(exporter.reports, {})
        with self.assertRaisesRegex(ValueError, "no entry for the component encoder"):
            configs = {"prefill": AtonConfig(), "decode": AtonConfig()}
            exporter.export_for_generation(bart(), {"input_ids": words(2, 7), "attention_mask": torch.ones(2, 7)}, configs)
        self.assertFalse(self.path.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
