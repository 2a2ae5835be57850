# SPDX-License-Identifier: MIT
"""Records calls of prims, torchvision and quantized_decomposed with their results, in the format of docs/verify.md.

    python3 tests/data/library_calls/record.py FOLDER

Needs torch, and for torchvision's calls a torchvision whose extension loads beside it; without one, they are left as they are.
"""
import base64
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


def main():
    folder = pathlib.Path(sys.argv[1])
    prims(Recorder(folder / "prims.jsonl"))
    quantized_decomposed(Recorder(folder / "quantized_decomposed.jsonl"))
    if hasattr(torch.ops.torchvision, "deform_conv2d"):
        torchvision(Recorder(folder / "torchvision.jsonl"))


if __name__ == "__main__":
    main()
