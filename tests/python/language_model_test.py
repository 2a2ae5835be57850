# SPDX-License-Identifier: MIT
"""Language models of transformers as folders: what onnxruntime-genai and a loop around ONNX Runtime generate with them is what torch
generates. Exits with 77 without torch, transformers or ONNX Runtime.

usage: language_model_test.py ATON
"""

import importlib.util
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
os.environ["ATON_COMMAND"] = str(pathlib.Path(sys.argv[1]).resolve())
os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "tests" / "models")]
for package in ("torch", "transformers", "onnxruntime", "onnxscript"):
    if importlib.util.find_spec(package) is None:
        print(f"skipped: {package} is not installed (ATON_WITH_TORCH=1)")
        sys.exit(77)

import aton_onnx  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
import zoo_detection  # noqa: E402, F401  operators that transformers imports with torchvision
from aton_onnx.transformers import Comparison, Generated, compare, export_language_model  # noqa: E402

logging.disable(logging.WARNING)
RUNTIMES = ["onnxruntime"] + ["onnxruntime-genai"] * (importlib.util.find_spec("onnxruntime_genai") is not None)
SMALL = {"vocab_size": 61, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "initializer_range": 0.3, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": [2, 5], "pad_token_id": 0}  # fmt: skip


def made(kind, **fields):
    torch.manual_seed(21)
    config = getattr(transformers, f"{kind}Config")(**SMALL | fields)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    for name, parameter in model.named_parameters():
        if "norm" in name:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    return model


def llama(**fields):
    return made("Llama", num_key_value_heads=2, head_dim=12, **fields)


class Folder(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.path = pathlib.Path(self.scratch.name, "exported")

    def generates(self, model, tokens=32, runtimes=tuple(RUNTIMES), **options):
        """The folder continues texts as torch does: each alone, and as a batch of three lengths."""
        report = export_language_model(model, self.path, **options)
        for runtime in runtimes:
            compared = compare(self.path, model, max_new_tokens=tokens, runtime=runtime)
            self.assertTrue(compared.passed, compared.text)
            self.assertEqual([len(each.prompts) for each in compared.results], [1, 1, 1, 3])
            self.assertLess(max(each.largest_error for each in compared.results), 1e-5)
            self.assertGreater(len(set(compared.results[0].tokens[0])), 4)  # it does not repeat one token
        return report

    def test_the_folder_of_a_llama(self):
        report = self.generates(llama(tie_word_embeddings=False))
        self.assertEqual(
            report.files, ("config.json", "genai_config.json", "generation_config.json", "model.onnx", "model.onnx.data")
        )
        self.assertEqual(sorted(each.name for each in self.path.iterdir()), list(report.files))
        self.assertEqual([each.name for each in self.path.parent.iterdir()], ["exported"])
        self.assertEqual((report.path, report.opset), (self.path / "model.onnx", 24))
        session = onnxruntime.InferenceSession(report.path)
        cache = [f"past_key_values.{layer}.{part}" for layer in range(2) for part in ("key", "value")]
        self.assertEqual([each.name for each in session.get_inputs()], ["input_ids", "attention_mask", "position_ids", *cache])
        present = [each.replace("past_key_values", "present") for each in cache]
        self.assertEqual([each.name for each in session.get_outputs()], ["logits", *present])
        shapes = {each.name: each.shape for each in session.get_inputs()}
        self.assertEqual(shapes["input_ids"], ["batch_size", "sequence_length"])
        self.assertEqual(shapes["attention_mask"], ["batch_size", "total_sequence_length"])
        self.assertEqual(shapes["past_key_values.1.value"], ["batch_size", 2, "past_sequence_length", 12])
        described = json.loads((self.path / "genai_config.json").read_text())
        model, decoder = described["model"], described["model"]["decoder"]
        self.assertEqual((model["type"], model["vocab_size"], model["context_length"]), ("llama", 61, 64))
        self.assertEqual((model["bos_token_id"], model["eos_token_id"], model["pad_token_id"]), (1, [2, 5], 0))
        self.assertEqual((decoder["head_size"], decoder["num_attention_heads"], decoder["num_key_value_heads"]), (12, 4, 2))
        self.assertEqual(decoder["inputs"]["past_key_names"], "past_key_values.%d.key")
        self.assertEqual(decoder["outputs"]["present_value_names"], "present.%d.value")
        self.assertFalse(described["search"]["past_present_share_buffer"])
        weights = 4 * sum(each.numel() for each in llama(tie_word_embeddings=False).parameters())
        self.assertLess((self.path / "model.onnx.data").stat().st_size, weights + 4096 * report.weights)

    def test_a_checkpoint_on_the_command_line(self):
        """With its tokenizer, and what its generation_config.json says."""
        model = llama()
        model.generation_config.update(do_sample=True, top_k=7, temperature=0.6)
        source = self.path.with_name("checkpoint")
        model.save_pretrained(source)
        for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "README.md"):
            (source / name).write_text("{}")
        main = "import sys, zoo_detection; from aton_onnx.__main__ import main; sys.exit(main())"
        command = [sys.executable, "-c", main, "language-model", str(source), "-o", str(self.path), "--opset", "23"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path[:2])}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^.*exported: \d+ nodes, opset 23, [\d,]+ bytes of weights, model\.type llama\n$")
        names = {each.name for each in self.path.iterdir()}
        self.assertLess({"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}, names)
        self.assertNotIn("README.md", names)
        search = json.loads((self.path / "genai_config.json").read_text())["search"]
        self.assertEqual((search["do_sample"], search["top_k"], search["temperature"]), (True, 7, 0.6))
        self.assertTrue(compare(self.path, source, [[7, 9, 11]], max_new_tokens=8).passed)
        rounded = subprocess.run([*command, "--precision", "int8"], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(rounded.returncode, 0, rounded.stderr)
        refused = subprocess.run([*command[:-1], "20", "--precision", "int4"], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, r"aton: .*--quantize int4: .* use --opset 21 or newer, or --target onnxruntime\n$")

    def test_rounded_weights(self):
        """All products of a Llama have integers, and give about the numbers of torch."""
        model = llama(tie_word_embeddings=False)
        for precision, target, error in (("int8", None, 0.01), ("int8", "onnxruntime", 0.01), ("int4", None, 0.2), ("int4", "onnxruntime", 0.2)):
            with self.subTest(precision=precision, target=target):
                report = export_language_model(model, self.path.with_name(f"{precision}.{target}"), precision=precision, target=target)
                self.assertEqual((len(report.quantized), dict(report.unquantized)), (15, {}))
                self.assertLess(max(each.relative_error for each in report.quantized), error)
                nodes = [node.op_type for node in onnx.load(report.path, load_external_data=False).graph.node]
                self.assertEqual(nodes.count("MatMulNBits" if target else "DequantizeLinear"), 15)
                compared = compare(report.path.parent, model, [[7, 9, 11, 3]], max_new_tokens=1, runtime="onnxruntime")
                self.assertLess(compared.results[0].largest_error, 0.1 if precision == "int8" else 1)

    def test_one_new_token_and_several_after_any_past(self):
        model = llama()
        export_language_model(model, self.path)
        session = onnxruntime.InferenceSession(self.path / "model.onnx")
        ids = torch.randint(3, 60, (3, 9))
        mask = (torch.arange(9) >= torch.tensor([[0], [2], [4]])).long()
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        with torch.no_grad():
            truth = model(ids, attention_mask=mask, position_ids=positions).logits.numpy()
        for cuts in ((9,), (1, 9), (5, 6, 9), (4, 9)):
            state, start = {f"past_key_values.{i}.{p}": np.zeros((3, 2, 0, 12), np.float32) for i in (0, 1) for p in ("key", "value")}, 0
            for end in cuts:
                feed = {"input_ids": ids[:, start:end].numpy(), "attention_mask": mask[:, :end].numpy(), "position_ids": positions[:, start:end].numpy()}
                logits, *present = session.run(None, feed | state)
                seen = mask[:, start:end].numpy() != 0
                np.testing.assert_allclose(logits[seen], truth[:, start:end][seen], rtol=1e-4, atol=1e-4)
                state, start = dict(zip(state, present)), end

    def test_logits_of_the_last_token(self):
        """Also of texts that onnxruntime-genai pads on the right."""
        report = self.generates(llama(), logits="last")
        session = onnxruntime.InferenceSession(report.path)
        self.assertEqual(session.get_outputs()[0].shape, ["batch_size", 1, 61])

    def test_windows_count_tokens(self):
        """onnxruntime-genai has padding between a text and what follows; a window of 6 places would hide tokens."""
        for target in (None, "onnxruntime"):
            self.generates(made("Mistral", num_key_value_heads=2, sliding_window=6), target=target)

    def test_attention_as_generators_feed_it(self):
        """The cache of each text is appended to behind its tokens, whatever padding the prompt has, and so the past may be a shared buffer."""
        for model, nodes in (
            (made("Llama", num_key_value_heads=2, head_dim=16), 29),
            (made("Mistral", num_key_value_heads=2, head_dim=16, sliding_window=6), 29),
            (made("Qwen3", num_key_value_heads=2, head_dim=8), 49),  # heads of this size are rotated before the operator
        ):
            with self.subTest(type(model).__name__):
                report = self.generates(model, target="onnxruntime-genai")
                self.assertLessEqual(report.nodes, nodes)
                operators = [node.op_type for node in onnx.load(report.path, load_external_data=False).graph.node]
                self.assertEqual((operators.count("GroupQueryAttention"), operators.count("Attention")), (2, 0))
                self.assertTrue(json.loads((self.path / "genai_config.json").read_text())["search"]["past_present_share_buffer"])

    def test_a_cache_that_is_not_appended_to_in_place(self):
        """Keys and values of two sizes: the standard operator, which no buffer is shared with."""
        sizes = {"q_lora_rank": 10, "kv_lora_rank": 8, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 7}
        self.generates(made("DeepseekV2", **sizes, num_key_value_heads=4, first_k_dense_replace=2), target="onnxruntime-genai")
        self.assertFalse(json.loads((self.path / "genai_config.json").read_text())["search"]["past_present_share_buffer"])

    def test_frequencies_that_depend_on_the_length(self):
        for rope in (
            {"rope_type": "dynamic", "rope_theta": 100.0, "factor": 4.0},
            {"rope_type": "longrope", "rope_theta": 100.0, "original_max_position_embeddings": 16, "factor": 2.0,
             "short_factor": [1.0, 1.1, 1.3, 1.6, 2.0, 2.5], "long_factor": [2.0, 2.5, 3.0, 4.0, 5.0, 6.0]},
        ):  # fmt: skip
            with self.subTest(rope["rope_type"]):
                model = llama(rope_parameters=rope)
                for module in model.modules():
                    if hasattr(module, "original_max_seq_len"):
                        module.max_seq_len_cached = module.original_max_seq_len = 16
                config = json.loads(model.config.to_json_string())
                export_language_model(model, self.path)
                self.assertEqual(json.loads(model.config.to_json_string()), config)
                compared = compare(self.path, model, [[7, 9, 11, 13, 17, 8, 4, 21]], max_new_tokens=32, runtime="onnxruntime")
                self.assertTrue(compared.passed, compared.text)

    def test_keys_and_values_of_two_sizes(self):
        """Generators allocate both alike."""
        sizes = {"q_lora_rank": 10, "kv_lora_rank": 8, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 7}
        self.generates(made("DeepseekV2", **sizes, num_key_value_heads=4, first_k_dense_replace=2))
        session = onnxruntime.InferenceSession(self.path / "model.onnx")
        self.assertEqual({each.shape[3] for each in session.get_inputs() if each.name.startswith("past")}, {8})

    def test_states_of_convolutions(self):
        model = made("Lfm2", num_key_value_heads=2, layer_types=["conv", "full_attention"], conv_L_cache=3)
        report = self.generates(model, runtimes=("onnxruntime",))
        self.assertEqual(report.inputs[-3:], ("past_conv.0", "past_key_values.1.key", "past_key_values.1.value"))
        if "onnxruntime-genai" in RUNTIMES:
            compared = compare(self.path, model, [[7, 9, 11]], max_new_tokens=32)
            self.assertTrue(compared.passed, compared.text)

    def test_precisions(self):
        model = llama()
        for precision, kind in (("fp16", "float16"), ("bf16", "bfloat16")):
            report = export_language_model(model, self.path, precision=precision)
            session_inputs = aton_onnx.print_graph(report.path).split("):")[0]
            self.assertIn("%past_key_values.0.key : Half" if kind == "float16" else "%past_key_values.0.key : BFloat16", session_inputs)
            self.assertEqual(model.dtype, torch.float32)
            if precision == "fp16":
                compared = compare(self.path, model, [[7, 9, 11]], max_new_tokens=2, runtime="onnxruntime")
                self.assertLess(compared.results[0].largest_error, 2e-2)

    def test_what_is_refused(self):
        mamba = transformers.MambaForCausalLM(transformers.MambaConfig(vocab_size=61, hidden_size=32, num_hidden_layers=2, state_size=4))
        bart = transformers.BartForConditionalGeneration(transformers.BartConfig(
            vocab_size=61, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=16, decoder_ffn_dim=16))  # fmt: skip
        for model, message in (
            (mamba.eval(), "^MambaForCausalLM: layer 0 keeps a recurrent state"),
            (bart.eval(), "^BartForConditionalGeneration: bart has an encoder and a decoder; export both with AtonExporter"),
            (transformers.LlamaModel(llama().config).eval(), "^LlamaModel: llama has no head"),
            (llama().train(), "^LlamaForCausalLM: is in training mode"),
            (self.path, "exported: has no config.json; pass the folder of a checkpoint"),
        ):
            with self.assertRaisesRegex(aton_onnx.AtonError, message):
                export_language_model(model, self.path)
        with self.assertRaisesRegex(ValueError, "^precision='fp8'"):
            export_language_model(llama(), self.path, precision="fp8")
        with self.assertRaisesRegex(aton_onnx.AtonError, "opset"):
            export_language_model(llama(), self.path, opset=99)
        self.assertEqual(list(self.path.parent.iterdir()), [])

    def test_a_difference_is_reported(self):
        export_language_model(llama(), self.path)
        other = llama()
        with torch.no_grad():
            other.lm_head.weight.mul_(-1)
        compared = compare(self.path, other, [[7, 9], [4, 8, 15]], max_new_tokens=4, runtime="onnxruntime")
        self.assertFalse(compared.passed)
        self.assertRegex(compared.text, r"^onnxruntime .*: text 1 differs from token 1 on: \d+, torch has \d+; largest error of logits 2.0e\+00$")
        self.assertIn(compared.text, compared._repr_html_())
        with self.assertRaisesRegex(aton_onnx.AtonError, "texts of 66 tokens are longer than its context of 64"):
            compare(self.path, other, [[7, 9]], max_new_tokens=64)
        batch = Generated(((1,), (2,)), ((4, 5, 6), (7, 8, 9)), ((4, 5, 0), (7, 0, 9)), 0.0, 1.0, 1.0, 1.0, 1.0)
        self.assertEqual(batch.first_difference, (1, 1))
        self.assertRegex(Comparison("r", (batch,)).text, "^r: text 2 of the batch differs from token 2 on: 0, torch has 8;")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
