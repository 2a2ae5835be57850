#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports a Llama that is larger than memory: a program without numbers, captured on the meta device, and sparse shards of safetensors.

    large_model.py --aton ATON [--layers 80] [--work FOLDER] [--most-seconds 1] [--most-mib 64]

The sizes are those of Llama 3 70B in bfloat16 (with 80 layers, 141 GB, of which the disk holds only the headers). The model refers to the
shards (--weights reference), and onnx.checker reads it by its path. Prints the seconds, the peak of anonymous memory and that of resident
memory, which includes the pages of mapped files, of `aton export`; exit status 1 if the first two exceed the limits, or if the checker
refuses the model.
"""
import argparse
import json
import pathlib
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "export"))
import measure  # noqa: E402

SHARD = 5_000_000_000  # bytes, as on the hub


def capture(layers: int, path: pathlib.Path) -> dict[str, tuple[int, ...]]:
    """Writes the program; returns the names and sizes of its weights."""
    import torch
    import transformers
    config = transformers.LlamaConfig(
        vocab_size=128256, hidden_size=8192, intermediate_size=28672, num_hidden_layers=layers, num_attention_heads=64,
        num_key_value_heads=8, max_position_embeddings=8192, rope_theta=500000.0, rms_norm_eps=1e-5, tie_word_embeddings=False)

    class Prefill(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = transformers.LlamaForCausalLM(config).to(torch.bfloat16).eval()

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            return self.model(input_ids=input_ids, use_cache=False).logits

    with torch.device("meta"):
        module = Prefill()
        ids = torch.zeros(2, 7, dtype=torch.long)
        sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
        program = torch.export.export(module, (ids,), dynamic_shapes=(sizes,), strict=False)
    frequencies = 500000.0 ** -(torch.arange(0, 128, 2, dtype=torch.float32) / 128)
    for name, constant in program.constants.items():  # what no checkpoint has
        if isinstance(constant, torch.Tensor) and constant.is_meta:
            assert name.endswith("inv_freq"), name
            program.constants[name] = frequencies.to(constant.dtype)
    torch.export.save(program, path)
    return {name.removeprefix("model."): tuple(tensor.shape) for name, tensor in program.state_dict.items()}


def write_shards(sizes: dict[str, tuple[int, ...]], folder: pathlib.Path) -> int:
    """Files with headers and holes; returns their bytes."""
    shards: list[dict[str, object]] = [{}]
    at = total = 0
    lengths = []
    for name, shape in sizes.items():
        count = 2
        for size in shape:
            count *= size
        if at != 0 and at + count > SHARD:
            lengths.append(at)
            shards.append({})
            at = 0
        shards[-1][name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + count]}
        at += count
        total += count
    lengths.append(at)
    weight_map = {}
    for i, (header, length) in enumerate(zip(shards, lengths)):
        file = f"model-{i + 1:05}-of-{len(shards):05}.safetensors"
        weight_map.update(dict.fromkeys(header, file))
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(folder / file, "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text)
            out.truncate(8 + len(text) + length)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}))
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", required=True)
    parser.add_argument("--layers", type=int, default=80)
    parser.add_argument("--work", type=pathlib.Path, help="a folder for the files, which are kept; default: a temporary one")
    parser.add_argument("--most-seconds", type=float, default=1)
    parser.add_argument("--most-mib", type=float, default=64)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.work or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        sizes = capture(arguments.layers, folder / "graph.pt2")
        total = write_shards(sizes, folder)
        print(f"captured in {time.perf_counter() - start:.1f} s: {arguments.layers} layers, {len(sizes)} weights of {total / 1e9:.1f} GB", flush=True)
        command = [arguments.aton, "export", str(folder / "graph.pt2"), "-o", str(folder / "model.onnx"), "--opset", "23",
                   "--weights-from", str(folder), "--weights", "reference"]
        took = min(measure.seconds(command) for _ in range(3))
        memory = measure.peak_anonymous(command, [folder / "model.onnx"])
        resident = measure.peak_resident(command)
        import onnx
        onnx.checker.check_model(str(folder / "model.onnx"))
        on_disk = sum(path.stat().st_blocks for path in folder.iterdir()) * 512
        print(f"exported in {took:.2f} s, peak of anonymous memory {memory:.0f} MiB, of resident {resident[1] if resident else 0:.0f} MiB; on disk {on_disk / 1e6:.0f} MB, accepted by onnx.checker")
        return int(took > arguments.most_seconds or memory > arguments.most_mib)


if __name__ == "__main__":
    sys.exit(main())
