# SPDX-License-Identifier: MIT
"""Records calls of prims, torchvision, quantized_decomposed and libraries that quantize with their results, in the format of docs/verify.md.

    python3 tests/data/library_calls/record.py FOLDER

Needs torch, and for the calls of a library that library (torchvision, torchao 0.18, optimum-quanto 0.2.7, bitsandbytes 0.50, nvidia-modelopt 0.47,
amd-quark 0.13); without it, they are left as they are.
"""
import base64
import importlib
import json
import math
import pathlib
import sys

import torch

P = torch.ops.prims


def written(v):
    if isinstance(v, torch.Tensor):
        raw = v.detach().cpu().resolve_conj().contiguous().flatten().view(torch.uint8).numpy().tobytes() if v.numel() else b""
        return {"dtype": str(v.dtype), "shape": list(v.shape), "base64": base64.b64encode(raw).decode()}
    if isinstance(v, float) and not math.isfinite(v):
        return {"float": str(v)}
    return [written(each) for each in v] if isinstance(v, (list, tuple)) else v


class Recorder:
    def __init__(self, path):
        self.file = path.open("w", encoding="utf-8")

    def __call__(self, operator, *args, compare="values", **kwargs):
        operator = getattr(operator, "default", operator)
        call = {"schema": str(operator._schema), "args": written(args), "kwargs": {k: written(v) for k, v in kwargs.items()}}
        results = operator(*args, **kwargs)
        call["outputs"] = written(results if isinstance(results, tuple) else (results,))
        if compare != "values":
            call["compare"] = compare
        self.file.write(json.dumps(call, default=str) + "\n")


def prims(record):
    floats = torch.tensor([[3.0, -4.5, 0.25], [float("nan"), float("inf"), -0.0]])
    other = torch.tensor([[2.0, 1.5, -0.5], [1.0, 2.0, 3.0]])
    whole = torch.tensor([7, -7, 0, 5])
    two = torch.tensor([2, 2, 5, -3])
    for name in ("add", "sub", "mul", "div", "maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "eq", "lt", "ge", "pow", "remainder", "fmod"):
        record(getattr(P, name), floats, other)
    for name in ("add", "div", "maximum", "remainder", "fmod", "bitwise_and", "bitwise_or", "gcd", "ne"):
        record(getattr(P, name), whole, two)
    record(P.div, torch.tensor([True, False]), torch.tensor([True, True]))
    record(P.add, torch.tensor([True, False]), torch.tensor([True, True]))
    record(P.add, floats, torch.tensor(2.5))
    record(P.shift_left, whole, torch.tensor([1, 2, 64, -1]))
    record(P.shift_right_arithmetic, whole, torch.tensor([1, 2, 64, -1]))
    for name in ("abs", "cbrt", "ceil", "cos", "erf", "exp", "expm1", "floor", "isfinite", "log1p", "neg", "reciprocal", "round", "rsqrt",
                 "sign", "signbit", "sqrt", "tanh", "trunc", "lgamma", "erf_inv", "bessel_i0e"):
        record(getattr(P, name), floats)
    record(P.cbrt, torch.tensor([-8.0, 27.0, 0.0, -0.0, float("inf"), 1e-30]))
    record(P.cbrt, torch.tensor([8, -27]))
    record(P.exp, whole)
    record(P.where, torch.tensor([True, False, True, False]), whole, two)
    record(P.where, torch.tensor(True), floats, other)
    record(P.broadcast_in_dim, torch.arange(3.0), [2, 3, 4], [1])
    record(P.broadcast_in_dim, torch.ones(1, 3), [5, 2, 3], [0, 2])
    record(P.broadcast_in_dim, torch.tensor(1.5), [2, 2], [])
    record(P.collapse, torch.arange(24.0).view(2, 3, 4), 0, 1)
    record(P.collapse, torch.tensor(1.0), 0, 0)
    record(P.collapse_view, torch.arange(24.0).view(2, 3, 4), 1, 2)
    record(P.split_dim, torch.arange(12.0).view(6, 2), 0, 2)
    record(P.squeeze, torch.ones(1, 3, 1), [0, 2])
    record(P.transpose, torch.arange(6.0).view(1, 2, 3), [2, 0, 1])
    record(P.rev, torch.arange(6.0).view(2, 3), [1])
    record(P.cat, [torch.ones(1, 2), torch.zeros(2, 2)], 0)
    record(P.reshape, torch.arange(6.0), [3, 2])
    record(P.copy_strided, torch.arange(6.0).view(2, 3), [1, 2])
    record(P.convert_element_type, floats[0], torch.int32)
    record(P.convert_element_type, torch.tensor([1.5 + 2j, 0j]), torch.bool)
    record(P.fill, whole, 2.5)
    record(P.item, torch.tensor([[2.5]]))
    record(P.as_strided_scatter, torch.zeros(8), torch.ones(2, 2), [2, 2], [3, 1], 1)
    record(P.view_of_dtype, other, torch.int32)
    for dims in ([0], [0, 1], []):
        record(P.sum, other, dims)
        record(P.prod, other, dims)
        record(P.amax, floats, dims)
        record(P.amin, other, dims)
        record(P.var, other, dims, 1)
    record(P.var, other, [1], 0.5)
    record(P.var, other, [1], None)
    record(P.sum, whole.int(), [0])
    record(P.prod, whole.int(), [0])
    made = {"device": "cpu", "requires_grad": False}
    record(P.iota, 5, start=1, step=2, dtype=torch.int64, **made)
    record(P.iota, 3, start=1, step=-2, dtype=torch.uint8, **made)
    record(P.iota, 0, start=1, step=2, dtype=torch.int64, **made)
    record(P.full, [2, 2], 2.5, dtype=torch.int64, **made)
    record(P.full_like, whole, True, dtype=torch.float32, **made)
    record(P.scalar_tensor, 2.5, dtype=torch.int32, device="cpu")
    record(P.empty, [2, 3], dtype=torch.float32, compare="types", **made)
    record(P.normal, [2, 3], mean=0.0, std=1.0, dtype=torch.float32, compare="types", **made)
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.uint8, torch.int64, torch.bool):
        record(P.maximum_value, dtype)
        record(P.minimum_value, dtype)
    z = torch.complex(torch.arange(6.0).view(2, 3), torch.ones(2, 3))
    record(P.fft_c2c, z, dim=[0, 1], forward=True)
    record(P.fft_c2c, z, dim=[1], forward=False)
    record(P.fft_r2c, z.real.contiguous(), dim=[1], onesided=True)
    record(P.fft_r2c, z.real.contiguous(), dim=[0, 1], onesided=False)
    record(P.fft_c2r, z, dim=[1], last_dim_size=4)
    for name in ("conj", "conj_physical"):
        record(getattr(P, name), z)
    for name in ("real", "imag"):
        record(getattr(P, name), z)


def torchvision(record):
    ops = torch.ops.torchvision
    torch.manual_seed(0)

    def boxes(n, size=10.0):
        corner = torch.rand(n, 2) * size
        return torch.cat([corner, corner + torch.rand(n, 2) * size / 2], 1)

    nan, inf = float("nan"), float("inf")
    for dtype in (torch.float32, torch.float64):
        for threshold in (0.0, 0.1, 0.3, 0.5, 1.0):
            record(ops.nms, boxes(12).to(dtype), torch.rand(12).to(dtype), threshold)
        ties = torch.tensor([0.5, 0.5, nan, 0.5, inf, nan, -inf]).to(dtype)
        record(ops.nms, boxes(7, 4.0).to(dtype), ties, 0.2)
        record(ops.nms, torch.tensor([[0.0, 0, 3, 10], [0, 0, 10, 10]]).to(dtype), torch.tensor([0.5, 0.4]).to(dtype), 0.3)  # an overlap of 0.3
        odd = torch.tensor([[0.0, 0, 4, 4], [4, 4, 0, 0], [4, 0, 0, 4], [nan, 0, 4, 4], [0, 0, 4, nan], [1, 1, 1, 3], [0, 0, 4, 4]])
        record(ops.nms, odd.to(dtype), torch.linspace(1, 0.4, 7).to(dtype), 0.4)
        record(ops.nms, odd.to(dtype), torch.linspace(0.4, 1, 7).to(dtype), 0.4)
        record(ops.nms, torch.zeros(0, 4).to(dtype), torch.zeros(0).to(dtype), 0.5)
    regions = torch.tensor([[0.0, 1, 1, 5, 6], [1, 0, 0, 7.5, 7.5], [0, -3, -2, 3.25, 2], [1, 6, 6, 12, 11], [0, 2, 2, 2.25, 2.5], [1, 3, 3, 3, 3], [0, 5, 5, 2, 1], [1, 20, 20, 24, 24]])
    for dtype in (torch.float32, torch.float64):
        scales = (1.0, 0.5) if dtype == torch.float32 else (0.75,)
        x = torch.randn(2, 2, 7, 6).to(dtype)
        for aligned in (False, True):
            for ratio in (-1, 2):
                for scale in scales:
                    record(ops.roi_align, x, regions.to(dtype), scale, 2, 3, ratio, aligned)
        record(ops.roi_align, x, regions[:0].to(dtype), 1.0, 2, 2, 2, False)
        record(ops.roi_align, x, regions[:0].to(dtype), 1.0, 2, 2, -1, True)
        for scale in scales:
            record(ops.roi_pool, x, regions.to(dtype), scale, 2, 3)
        y = torch.randn(2, 6, 7, 6).to(dtype)
        for scale in scales:
            record(ops.ps_roi_pool, y, regions.to(dtype), scale, 2, 3)
            for ratio in (-1, 2):
                record(ops.ps_roi_align, y, regions.to(dtype), scale, 2, 3, ratio)
        for groups, offset_groups, use_mask, stride, pad, dilation in ((1, 1, False, 1, 1, 1), (2, 1, True, 2, 1, 1), (1, 2, True, 1, 0, 2), (2, 2, False, 1, 2, 1)):
            image = torch.randn(2, 4, 7, 6).to(dtype)
            weight = torch.randn(6, 4 // groups, 3, 2).to(dtype)
            rows = (7 + 2 * pad - (dilation * 2 + 1)) // stride + 1
            columns = (6 + 2 * (pad + 1) - (dilation + 1)) // stride + 1
            offset = torch.randn(2, offset_groups * 12, rows, columns).to(dtype) * 2
            mask = torch.rand(2, offset_groups * 6, rows, columns).to(dtype)
            record(ops.deform_conv2d, image, weight, offset, mask if use_mask else torch.zeros(2, 1).to(dtype), torch.randn(6).to(dtype),
                   stride, stride, pad, pad + 1, dilation, dilation, groups, offset_groups, use_mask)


def quantized_decomposed(record):
    import torch.ao.quantization.fx._decomposed  # noqa: F401

    ops = torch.ops.quantized_decomposed
    x = torch.tensor([[-1.5, 0.5, 1.5, 2.5, 300.0], [0.05, 0.15, 0.25, 0.35, -300.0]])
    for dtype, low, high in ((torch.uint8, 0, 255), (torch.int8, -128, 127), (torch.int8, -127, 127), (torch.int16, -32768, 32767), (torch.int32, -2147483648, 2147483647)):
        for scale in (0.1, 0.25, 3.0):
            record(ops.quantize_per_tensor, x, scale, 3, low, high, dtype)
            q = ops.quantize_per_tensor(x, scale, 3, low, high, dtype)
            record(ops.dequantize_per_tensor, q, scale, 3, low, high, dtype)
            record(ops.quantize_per_tensor.tensor, x, torch.tensor([scale]), torch.tensor([3]), low, high, dtype)
            record(ops.dequantize_per_tensor.tensor, q, torch.tensor(scale), torch.tensor(3), low, high, dtype)
        scales = torch.tensor([0.1, 0.7])
        zeros = torch.tensor([0, 5])
        record(ops.quantize_per_channel, x, scales, zeros, 0, low, high, dtype)
        q = ops.quantize_per_channel(x, scales, zeros, 0, low, high, dtype)
        record(ops.dequantize_per_channel, q, scales, zeros, 0, low, high, dtype)
        record(ops.dequantize_per_channel, q, scales, None, 0, low, high, dtype)
    q = torch.tensor([100, -100, 7], dtype=torch.int8)
    for out in (torch.float16, torch.bfloat16, torch.float64):
        record(ops.dequantize_per_tensor, q, 0.3, 3, -128, 127, torch.int8, out_dtype=out)
    record(ops.quantize_per_tensor, x.half(), 0.1, 3, -128, 127, torch.int8)
    for y in (x, x.abs(), -x.abs(), torch.zeros(2, 3)):
        record(ops.choose_qparams.tensor, y, -128, 127, 1e-5, torch.int8)
        record(ops.choose_qparams.tensor, y, 0, 255, 1e-5, torch.uint8)
        record(ops.choose_qparams_per_token_asymmetric, y, torch.int8)
        scales, zeros = ops.choose_qparams_per_token_asymmetric(y, torch.int8)
        record(ops.quantize_per_token, y, scales, zeros, -128, 127, torch.int8)
        record(ops.quantize_per_token, y, scales.float(), zeros, -128, 127, torch.int8)
        q = ops.quantize_per_token(y, scales, zeros, -128, 127, torch.int8)
        record(ops.dequantize_per_token, q, scales, zeros, -128, 127, torch.int8, torch.float32)


def torchao(record):
    ops = torch.ops.torchao
    x = torch.tensor([[-1.5, 0.5, 1.5, 2.5, 9.0, -7.25, 0.25, 0.0], [0.05, 0.15, 0.25, 0.35, -3.0, 1e-9, 4.0, -0.0], [0.0] * 8])
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        y = x.to(dtype)
        for mapping in ("SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"):
            for block in ([1, 8], [1, 4], [3, 8], [3, 2]):
                for low, high in ((-128, 127), (-8, 7)) if dtype == torch.float32 else ((-100, 127),):
                    keep = block != [1, 4]
                    more = (torch.int8, low, high, 1e-5, torch.float32, torch.int8, keep)
                    record(ops.choose_qparams_affine, y, mapping, block, *more)
                    scale, zero = ops.choose_qparams_affine(y, mapping, block, *more)
                    record(ops.quantize_affine, y, block, scale, zero, torch.int8, low, high)
                    q = ops.quantize_affine(y, block, scale, zero, torch.int8, low, high)
                    record(ops.dequantize_affine, q, block, scale, zero, torch.int8, low, high, output_dtype=dtype)
        record(ops.choose_qparams_affine, y, "SYMMETRIC", [1, 8], torch.int8)
        record(ops.choose_qparams_affine, y, "ASYMMETRIC", [1, 8], torch.uint8)
    record(ops.dequantize_affine, torch.arange(-8, 8, dtype=torch.int8).view(2, 8), [1, 4], torch.rand(2, 2), None, torch.int8)
    for float8 in (torch.float8_e4m3fn, torch.float8_e5m2):
        for block in ([1, 8], [3, 2], [3, 8]):
            record(ops.choose_scale_float8, x, block, float8)
            scale = ops.choose_scale_float8(x, block, float8).clamp(min=1e-3) / 2  # half of the numbers saturate
            record(ops.quantize_affine_float8_non_decomposed, x, scale, float8)
            record(ops.dequantize_affine_float8_non_decomposed, ops.quantize_affine_float8_non_decomposed(x, scale, float8), scale)


def quanto(record):
    ops = torch.ops.quanto
    x = torch.tensor([[-1.5, 0.5, 1.5, 2.5, 300.0], [0.05, 0.15, 0.25, 0.35, -300.0]])
    for dtype in (torch.int8, torch.float8_e4m3fn, torch.float8_e5m2):
        record(ops.quantize_symmetric, x, dtype, None, torch.tensor(0.3))
        record(ops.quantize_symmetric, x, dtype, 0, torch.tensor([[0.3], [0.01]]))
    weight = (torch.arange(15) * 37 % 255 - 128).view(3, 5).to(torch.int8)
    scales = torch.tensor([[0.01], [0.002], [0.5]])
    record(ops.qbytes_mm, x, weight, scales)
    record(ops.qbytes_mm, (x * 7).clamp(-128, 127).to(torch.int8), weight, scales)
    record(ops.qbytes_mm, x.clamp(-3, 3), weight.float().to(torch.float8_e4m3fn), scales)


def bitsandbytes(record):
    ops = torch.ops.bitsandbytes
    x = torch.tensor([[-1.5, 0.5, 1.5, 2.5, 9.0], [0.05, 0.15, 0.25, 0.35, -3.0]])
    weight = torch.randn(3, 5)
    for dtype in (torch.float32, torch.float16):
        record(ops.int8_vectorwise_quant, x.to(dtype))
    a, rows, _ = ops.int8_vectorwise_quant(x)
    b, columns, _ = ops.int8_vectorwise_quant(weight)
    record(ops.int8_linear_matmul, a, b)
    from bitsandbytes.functional import _convert_weight_packed_for_cpu, quantize_4bit

    for kind in ("nf4", "fp4"):  # the kernel for CPUs, with its layout
        quantized, state = quantize_4bit(torch.randn(64, 64), blocksize=64, quant_type=kind)
        code = state.code.clone()
        packed, state = _convert_weight_packed_for_cpu(quantized, state)
        for dtype in (torch.float32, torch.bfloat16):
            record(ops.gemv_4bit, torch.randn(2, 64).to(dtype), packed, [64, 64], state.absmax, code, 64)
    for bias in (None, torch.randn(3)):
        record(ops.int8_scaled_mm, a, b, rows, columns, bias=bias, dtype=torch.float32)
        record(ops.int8_mm_dequant, ops.int8_linear_matmul(a, b), rows, columns, dtype=torch.float32, bias=bias)


def tensorrt(record):
    x = torch.tensor([[-1.5, 0.5, 1.5, 2.5, 9.0], [0.05, 0.15, 0.25, 0.35, -3.0]])
    for dtype in (torch.float32, torch.bfloat16):  # integers are quantized on CUDA only
        for amax in (torch.tensor(3.0), torch.tensor(0.0), torch.tensor([[2.0], [0.5]])):
            record(torch.ops.tensorrt.quantize_op, x.to(dtype), amax, 8, 4, False, False)


def quark(record):
    op = torch.ops.quark.scaled_fake_quantize
    x = torch.tensor([[-1.5, 0.5, 1.5, 2.5], [0.05, 0.15, 0.25, -3.0]])
    for dtype, low, high in (("int8", -128.0, 127.0), ("int4", -8.0, 7.0), ("uint8", 0.0, 255.0)):
        zero = torch.tensor(3, dtype=torch.int32)
        record(op, dtype, x, torch.tensor(0.02), zero, 1, 1, low, high, 8, "per_tensor", "None")
        record(op, dtype, x, torch.tensor([0.02, 0.3]), torch.tensor([0, 1], dtype=torch.int32), 0, 1, low, high, 8, "per_channel", "None")
        scale = torch.tensor([[0.02, 0.3], [0.1, 0.7]])
        record(op, dtype, x, scale, torch.zeros(2, 2, dtype=torch.int32), 1, 2, low, high, 8, "per_group", "None")
    for dtype, most in (("fp8_e4m3", 448.0), ("fp8_e5m2", 57344.0)):
        record(op, dtype, x, torch.tensor(0.003), torch.tensor(0, dtype=torch.int32), 1, 1, -most, most, 8, "per_tensor", "None")


libraries = {"torchao": ("torchao.quantization", torchao), "quanto": ("optimum.quanto.library", quanto), "bitsandbytes": ("bitsandbytes", bitsandbytes),
             "tensorrt": ("modelopt.torch.quantization.tensor_quant", tensorrt), "quark": ("quark.torch.kernel", quark)}


def main():
    folder = pathlib.Path(sys.argv[1])
    prims(Recorder(folder / "prims.jsonl"))
    quantized_decomposed(Recorder(folder / "quantized_decomposed.jsonl"))
    if hasattr(torch.ops.torchvision, "deform_conv2d"):
        torchvision(Recorder(folder / "torchvision.jsonl"))
    torch.manual_seed(0)
    for name, (module, calls) in libraries.items():
        try:
            importlib.import_module(module)
        except ImportError as e:
            print(f"{name}: not recorded: {e}")
            continue
        calls(Recorder(folder / f"{name}.jsonl"))


if __name__ == "__main__":
    main()
