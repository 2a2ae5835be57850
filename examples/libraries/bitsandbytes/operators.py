# SPDX-License-Identifier: MIT
"""Quantized weights of bitsandbytes: 4 bits with a scale for each block, and 8 bits with a scale for each row."""

import torch

NAMESPACE = "bitsandbytes"
SCHEMAS = """
dequantize_4bit(Tensor A, Tensor absmax, int blocksize, str quant_type, int[] shape, ScalarType dtype) -> Tensor
gemv_4bit(Tensor A, Tensor B, int[] shapeB, Tensor absmax, Tensor code, int blocksize) -> Tensor
int8_vectorwise_quant(Tensor A, float threshold=0.0) -> (Tensor, Tensor, Tensor?)
int8_linear_matmul(Tensor A, Tensor B) -> Tensor
int8_mm_dequant(Tensor A, Tensor row_stats, Tensor col_stats, ScalarType? dtype=None, Tensor? bias=None) -> Tensor
"""

# The row writes MatMulBnb4 where it knows the code.
CONSTANTS = {"bitsandbytes::gemv_4bit": ["code"]}

# The numbers that four bits stand for. NF4 has the quantiles of a normal distribution, FP4 a sign, two bits of exponent, one of mantissa.
NF4 = torch.tensor([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0])  # fmt: skip
FP4 = torch.tensor([0.0, 1 / 192, 2 / 3, 1.0, 1 / 3, 1 / 2, 1 / 6, 1 / 4, 0.0, -1 / 192, -2 / 3, -1.0, -1 / 3, -1 / 2, -1 / 6, -1 / 4])


def from_4bit(A, absmax, blocksize, code, shape):
    """Two numbers a byte, the first in its high bits. The last block may be shorter."""
    packed = A.reshape(-1).int()
    numbers = code[torch.stack([packed >> 4, packed & 15], -1).view(-1)]
    return (numbers * absmax.repeat_interleave(blocksize)[: numbers.numel()]).view(shape)


def dequantize_4bit(A, absmax, blocksize, quant_type, shape, dtype):
    return from_4bit(A, absmax, blocksize, {"nf4": NF4, "fp4": FP4}[quant_type].to(A.device), shape).to(dtype)


def dequantize_4bit_fake(A, absmax, blocksize, quant_type, shape, dtype):
    return A.new_empty(shape, dtype=dtype)


def gemv_4bit(A, B, shapeB, absmax, code, blocksize):
    return A @ from_4bit(B, absmax, blocksize, code, shapeB).T.to(A.dtype)


def gemv_4bit_fake(A, B, shapeB, absmax, code, blocksize):
    return A.new_empty(*A.shape[:-1], shapeB[0])


def int8_vectorwise_quant(A, threshold=0.0):
    """Quantized rows, their scales, and the columns that have a number at or beyond the threshold, which are left out."""
    outliers = columns = None
    if threshold > 0:
        outliers = A.abs() >= threshold
        columns = outliers.any(0).nonzero().view(-1)
        A = A.masked_fill(outliers, 0)
    absmax = A.abs().amax(-1).float()
    rows = torch.round(A * (127.0 / absmax).unsqueeze(-1)).to(torch.int8)
    if outliers is not None:
        rows[:, columns] = 0
    return rows, absmax, columns


def int8_vectorwise_quant_fake(A, threshold=0.0):
    columns = A.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64) if threshold > 0 else None
    return torch.empty_like(A, dtype=torch.int8), A.new_empty(A.shape[:-1], dtype=torch.float32), columns


def int8_linear_matmul(A, B):
    return A.int() @ B.int().T


def int8_mm_dequant(A, row_stats, col_stats, dtype=None, bias=None):
    y = A.view(-1, A.shape[-1]).float() * (row_stats.unsqueeze(-1) * col_stats) * 6.200124e-05
    return (y if bias is None else y + bias).to(torch.float16 if dtype is None else dtype)


def packed_4bit(count):
    return torch.randint(0, 256, (count, 1), dtype=torch.uint8)


class Model(torch.nn.Module):
    """A layer with weights of 4 bits, in two ways, and one with weights of 8 bits."""

    def __init__(self):
        super().__init__()
        self.register_buffer("packed", packed_4bit(6 * 32 // 2))
        self.register_buffer("scales", torch.rand(12) + 0.5)
        self.register_buffer("nf4", NF4)
        self.register_buffer("bytes", torch.randint(-127, 128, (5, 6), dtype=torch.int8))
        self.register_buffer("row_scales", torch.rand(5) + 0.5)

    def forward(self, x):
        ops = torch.ops.bitsandbytes
        weight = ops.dequantize_4bit(self.packed, self.scales, 16, "nf4", [6, 32], torch.float32)
        y = ops.gemv_4bit(x, self.packed, [6, 32], self.scales, self.nf4, 16)
        rows, scales, columns = ops.int8_vectorwise_quant(y, 25.0)
        product = ops.int8_linear_matmul(rows, self.bytes)
        wide = ops.int8_mm_dequant(product, scales, self.row_scales, torch.float32, self.row_scales)
        return x @ weight.T, y, columns, wide, ops.int8_mm_dequant(product, scales, self.row_scales)


SIZES = (3, 7)
DYNAMIC = {"x": {0: torch.export.Dim("rows", max=1000)}}


def inputs(size):
    return {"x": torch.randn(size, 32) * 4}


def calls():
    ops = torch.ops.bitsandbytes
    for dtype, quant_type, shape, block in (
        (torch.float32, "nf4", [3, 8], 8),
        (torch.float16, "fp4", [2, 3, 4], 16),
        (torch.float32, "fp4", [10], 4),
    ):
        count = torch.Size(shape).numel()
        ops.dequantize_4bit(packed_4bit(count // 2), torch.rand(-(-count // block)), block, quant_type, shape, dtype)
    for rows in (2, 5):
        for code in (NF4, FP4, torch.linspace(-2, 1, 16)):
            ops.gemv_4bit(torch.randn(rows, 16), packed_4bit(4 * 16 // 2), [4, 16], torch.rand(4), code, 16)
        ops.int8_vectorwise_quant(torch.randn(rows, 6))
        ops.int8_vectorwise_quant(torch.randn(rows, 6), 1.5)
        A, B = (torch.randint(-128, 128, (n, 5), dtype=torch.int8) for n in (rows, 3))
        product = ops.int8_linear_matmul(A, B)
        ops.int8_mm_dequant(product, torch.rand(rows), torch.rand(3))
        ops.int8_mm_dequant(product, torch.rand(rows), torch.rand(3), torch.float32, torch.randn(3))
