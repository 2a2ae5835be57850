# SPDX-License-Identifier: MIT
"""Numbers that the program computes, as arguments of operators: each operator with `x.shape[0]`, `x.shape[0] * 0.5`, a float
`t.item()` and an int `t.item()`, exported by torch and by the aton command, and compared with torch in ONNX Runtime for two
values of the number. A graph may need the later opset; every other refusal must be in REFUSED. Exit status: 0 if every pair
is as expected, 77 without torch."""

import argparse
import hashlib
import itertools
import logging
import pathlib
import sys
import tempfile
import warnings

from checking import Failure, aton_export, compare, open_session, run_session

try:
    import onnxruntime  # noqa: F401
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)

OPSETS = (13, 20)
TOLERANCE = 2e-5
KINDS = ("size", "half", "float", "int")

# (operator, kind) that is refused, with the reason why ONNX cannot express it.
REFUSED = {}

REAL = KINDS
INTEGERS = ("size", "int")

# Where n may be any number. x is float32 of shape (rows, 3); i is int64 and m is bool, of the same shape.
OPERATORS = {
    "add": (REAL, lambda x, i, m, n: x + n),
    "sub": (REAL, lambda x, i, m, n: x - n),
    "rsub": (REAL, lambda x, i, m, n: n - x),
    "mul": (REAL, lambda x, i, m, n: x * n),
    "div": (REAL, lambda x, i, m, n: x / n),
    "rdiv": (REAL, lambda x, i, m, n: n / (x + 10)),
    "div_trunc": (REAL, lambda x, i, m, n: torch.div(x * 7, n, rounding_mode="trunc")),
    "div_floor": (REAL, lambda x, i, m, n: torch.div(x * 7, n, rounding_mode="floor")),
    "floor_divide": (REAL, lambda x, i, m, n: x * 7 // n),
    "floor_divide_int": (REAL, lambda x, i, m, n: i // n),
    "remainder": (REAL, lambda x, i, m, n: torch.remainder(x * 7, n)),
    "remainder_int": (REAL, lambda x, i, m, n: i % n),
    "rremainder": (REAL, lambda x, i, m, n: torch.remainder(n, x + 10)),
    "fmod": (REAL, lambda x, i, m, n: torch.fmod(x * 7, n)),
    "fmod_int": (REAL, lambda x, i, m, n: torch.fmod(i, n)),
    "pow": (REAL, lambda x, i, m, n: x.abs() ** n),
    "pow_int": (REAL, lambda x, i, m, n: i.abs() ** n),
    "rpow": (REAL, lambda x, i, m, n: n**x),
    "float_power": (REAL, lambda x, i, m, n: torch.float_power(x.abs(), n)),
    "mul_int": (REAL, lambda x, i, m, n: i * n),
    "add_int": (REAL, lambda x, i, m, n: i + n),
    "add_bool": (REAL, lambda x, i, m, n: m + n),
    "eq": (REAL, lambda x, i, m, n: i == n),
    "ne": (REAL, lambda x, i, m, n: i != n),
    "lt": (REAL, lambda x, i, m, n: x < n),
    "le": (REAL, lambda x, i, m, n: i <= n),
    "gt": (REAL, lambda x, i, m, n: x > n),
    "ge": (REAL, lambda x, i, m, n: i >= n),
    "add_alpha": (REAL, lambda x, i, m, n: torch.add(x, x * 2, alpha=n)),
    "sub_alpha": (REAL, lambda x, i, m, n: torch.sub(x, x * x, alpha=n)),
    "rsub_alpha": (REAL, lambda x, i, m, n: torch.rsub(x, x * x, alpha=n)),
    "addmm": (REAL, lambda x, i, m, n: torch.addmm(x.sum(0), x, x.T @ x, alpha=n)),
    "addmm_beta": (REAL, lambda x, i, m, n: torch.addmm(x.sum(0), x, x.T @ x, beta=n)),
    "addmv": (REAL, lambda x, i, m, n: torch.addmv(x[:, 0], x, x[0], beta=n, alpha=2)),
    "addr": (REAL, lambda x, i, m, n: torch.addr(x, x[:, 0], x[0], beta=2, alpha=n)),
    "baddbmm": (REAL, lambda x, i, m, n: torch.baddbmm(x[None], x[None], (x.T @ x)[None], beta=n, alpha=0.5)),
    "addbmm": (REAL, lambda x, i, m, n: torch.addbmm(x, x[None], (x.T @ x)[None], beta=0.5, alpha=n)),
    "addcmul": (REAL, lambda x, i, m, n: torch.addcmul(x, x * 2, x * 3, value=n)),
    "addcdiv": (REAL, lambda x, i, m, n: torch.addcdiv(x, x * 2, x + 10, value=n)),
    "lerp": (REAL, lambda x, i, m, n: torch.lerp(x, x * x, n)),
    "clamp": (REAL, lambda x, i, m, n: (x * 9).clamp(-n, n)),
    "clamp_min": (REAL, lambda x, i, m, n: (x * 9).clamp_min(n)),
    "clamp_max": (REAL, lambda x, i, m, n: (x * 9).clamp(max=n)),
    "clamp_int": (REAL, lambda x, i, m, n: i.clamp(0, n)),
    "clip_boxes": (REAL, lambda x, i, m, n: torch.stack([x[:, 0].clamp(min=0, max=n), x[:, 1]], 1)),
    "full": (REAL, lambda x, i, m, n: torch.full((2, 3), n)),
    "full_typed": (REAL, lambda x, i, m, n: torch.full((2,), n, dtype=torch.float16)),
    "full_like": (REAL, lambda x, i, m, n: torch.full_like(x, n)),
    "full_like_int": (REAL, lambda x, i, m, n: torch.full_like(i, n)),
    "new_full": (REAL, lambda x, i, m, n: x.new_full((2, 3), n)),
    "fill": (REAL, lambda x, i, m, n: x.clone().fill_(n)),
    "masked_fill": (REAL, lambda x, i, m, n: x.masked_fill(m, n)),
    "where": (REAL, lambda x, i, m, n: torch.where(m, x, n)),
    "where_first": (REAL, lambda x, i, m, n: torch.where(m, n, x)),
    "where_both": (REAL, lambda x, i, m, n: torch.where(m, n, 2)),
    "index_fill": (REAL, lambda x, i, m, n: x.index_fill(1, torch.tensor([0, 2]), n)),
    "scatter": (REAL, lambda x, i, m, n: x.scatter(1, i.abs() % 3, n)),
    "scatter_reduce": (REAL, lambda x, i, m, n: x.scatter(1, i[:, :1].abs() % 3, n, reduce="multiply")),
    "setitem": (REAL, lambda x, i, m, n: assigned(x, n)),
    "index_put": (REAL, lambda x, i, m, n: put(x, m, n)),
    "scalar_tensor": (REAL, lambda x, i, m, n: torch.tensor(n) * 2),
    "scalar_tensor_typed": (REAL, lambda x, i, m, n: torch.scalar_tensor(n, dtype=torch.int32)),
    "tensor_of_list": (REAL, lambda x, i, m, n: torch.tensor([n, 2, n])),
    "threshold": (REAL, lambda x, i, m, n: F.threshold(x, 0.25, n)),
    "threshold_at": (REAL, lambda x, i, m, n: F.threshold(x * 9, n, 0.5)),
    "elu": (REAL, lambda x, i, m, n: F.elu(x, n)),
    "celu": (REAL, lambda x, i, m, n: F.celu(x, n)),
    "leaky_relu": (REAL, lambda x, i, m, n: F.leaky_relu(x, n)),
    "hardtanh": (REAL, lambda x, i, m, n: F.hardtanh(x * 9, -n, n)),
    "hardshrink": (REAL, lambda x, i, m, n: F.hardshrink(x * 9, n)),
    "softshrink": (REAL, lambda x, i, m, n: F.softshrink(x * 9, n)),
    "softplus": (REAL, lambda x, i, m, n: F.softplus(x, n)),
    "softplus_threshold": (REAL, lambda x, i, m, n: F.softplus(x * 9, 1.5, n)),
    "logit": (REAL, lambda x, i, m, n: torch.logit(torch.sigmoid(x), 1 / (n + 5))),
    "nan_to_num": (REAL, lambda x, i, m, n: torch.nan_to_num(torch.log(x), n, 4.0, -4.0)),
    "xlogy": (REAL, lambda x, i, m, n: torch.xlogy(n, x.abs() + 1)),
    "layer_norm_eps": (REAL, lambda x, i, m, n: F.layer_norm(x, (3,), eps=n * 0.1)),
    "batch_norm_eps": (REAL, lambda x, i, m, n: F.batch_norm(x, x[0], x[1].abs() + 1, eps=n * 0.1)),
    "cosine_similarity": (REAL, lambda x, i, m, n: F.cosine_similarity(x, x * x, eps=n)),
    "pairwise_distance": (REAL, lambda x, i, m, n: F.pairwise_distance(x, x * x, eps=n)),
    "norm_p": (REAL, lambda x, i, m, n: torch.linalg.vector_norm(x, n + 0.5, dim=1)),
    "renorm": (REAL, lambda x, i, m, n: torch.renorm(x, 2, 0, n)),
    "cdist_p": (REAL, lambda x, i, m, n: torch.cdist(x, x * 2, p=n)),
    "pad_value": (REAL, lambda x, i, m, n: F.pad(x, (1, 2), value=n)),
    "isclose": (REAL, lambda x, i, m, n: torch.isclose(x, x * 1.5, atol=n * 0.1)),
    "huber": (REAL, lambda x, i, m, n: F.huber_loss(x * 9, x, delta=n)),
    "smooth_l1": (REAL, lambda x, i, m, n: F.smooth_l1_loss(x * 9, x, beta=n)),
    "hinge_embedding": (REAL, lambda x, i, m, n: F.hinge_embedding_loss(x, x.sign(), margin=n)),
    "margin_ranking": (REAL, lambda x, i, m, n: F.margin_ranking_loss(x, x * x, x.sign(), margin=n)),
    "multi_margin": (REAL, lambda x, i, m, n: F.multi_margin_loss(x * 9, i[:, 0].abs() % 3, margin=n)),
    "multi_margin_square": (REAL, lambda x, i, m, n: F.multi_margin_loss(x * 9, i[:, 0].abs() % 3, p=2, margin=n)),
    "triplet": (REAL, lambda x, i, m, n: F.triplet_margin_loss(x, x * x, x + 1, margin=n)),
    "label_smoothing": (REAL, lambda x, i, m, n: F.cross_entropy(x, i[:, 0].abs() % 3, label_smoothing=0.1 / n)),
    "std_correction": (REAL, lambda x, i, m, n: x.std(1, correction=n * 0.25)),
    "var_correction": (REAL, lambda x, i, m, n: x.var(1, correction=n * 0.25)),
    "quantile": (("half", "float"), lambda x, i, m, n: torch.quantile(x, n / 9, dim=1)),
    "arange": (REAL, lambda x, i, m, n: torch.arange(n) * 2),
    "arange_start": (REAL, lambda x, i, m, n: torch.arange(n, n + 4)),
    "arange_step": (REAL, lambda x, i, m, n: torch.arange(0, 12, n)),
    "arange_typed": (REAL, lambda x, i, m, n: torch.arange(n, dtype=torch.float32)),
    "linspace": (REAL, lambda x, i, m, n: torch.linspace(0, n, 5)),
    "linspace_start": (REAL, lambda x, i, m, n: torch.linspace(n, 20.5, 4)),
    "logspace": (REAL, lambda x, i, m, n: torch.logspace(0, n, 4)),
    "linspace_steps": (INTEGERS, lambda x, i, m, n: torch.linspace(0.5, 4, n)),
    "logspace_steps": (INTEGERS, lambda x, i, m, n: torch.logspace(0.5, 2, n)),
    "ones": (INTEGERS, lambda x, i, m, n: torch.ones(n, 2)),
    "eye": (INTEGERS, lambda x, i, m, n: torch.eye(n)),
    "eye_m": (INTEGERS, lambda x, i, m, n: torch.eye(4, n)),
    "narrow_length": (INTEGERS, lambda x, i, m, n: torch.arange(40.0).narrow(0, 1, n)),
    "narrow_start": (INTEGERS, lambda x, i, m, n: torch.arange(40.0).narrow(0, n, 4)),
    "slice": (INTEGERS, lambda x, i, m, n: torch.arange(40.0)[1:n]),
    "slice_step": (INTEGERS, lambda x, i, m, n: torch.arange(40.0)[1::n]),
    "select": (INTEGERS, lambda x, i, m, n: torch.arange(40.0)[n]),
    "select_scatter": (INTEGERS, lambda x, i, m, n: torch.select_scatter(torch.arange(40.0), x[0, 0], 0, n)),
    "slice_scatter": (INTEGERS, lambda x, i, m, n: torch.slice_scatter(torch.arange(40.0), x[0], 0, n, n + 3)),
    "pad_width": (INTEGERS, lambda x, i, m, n: F.pad(x, (1, n))),
    "pad_reflect": (INTEGERS, lambda x, i, m, n: F.pad(torch.arange(40.0)[None, None] * x[0, 0], (n, 1), mode="reflect")),
    "pad_replicate": (INTEGERS, lambda x, i, m, n: F.pad(x[None], (n, 2), mode="replicate")),
    "repeat": (INTEGERS, lambda x, i, m, n: x.repeat(1, n)),
    "tile": (INTEGERS, lambda x, i, m, n: torch.tile(x, (n, 2))),
    "expand": (INTEGERS, lambda x, i, m, n: x[None].expand(n, -1, -1)),
    "repeat_interleave": (INTEGERS, lambda x, i, m, n: x.repeat_interleave(n, dim=1)),
    "roll": (INTEGERS, lambda x, i, m, n: torch.roll(x, n, 1)),
    "roll_rows": (INTEGERS, lambda x, i, m, n: torch.roll(x, (n, 1), (0, 1))),
    "tril": (INTEGERS, lambda x, i, m, n: torch.tril(torch.arange(64.0).view(8, 8) + x[0, 0], n - 4)),
    "triu": (INTEGERS, lambda x, i, m, n: torch.triu(torch.arange(64.0).view(8, 8) + x[0, 0], n - 6)),
    "tril_indices": (INTEGERS, lambda x, i, m, n: torch.tril_indices(n, 4)),
    "diag_embed": (INTEGERS, lambda x, i, m, n: torch.diag_embed(x, n)),
    "unfold": (INTEGERS, lambda x, i, m, n: torch.arange(40.0).unfold(0, n, 3)),
    "unfold_step": (INTEGERS, lambda x, i, m, n: torch.arange(40.0).unfold(0, 3, n)),
    "topk": (INTEGERS, lambda x, i, m, n: torch.topk(torch.arange(40.0).cos() * x[0, 0], n)[0]),
    "kthvalue": (INTEGERS, lambda x, i, m, n: torch.kthvalue(torch.arange(40.0).cos() * x[0, 0], n)[0]),
    "one_hot": (INTEGERS, lambda x, i, m, n: F.one_hot(i[0].abs() % 3, n + 1)),
    "bincount": (INTEGERS, lambda x, i, m, n: torch.bincount(i[0].abs() % 3, minlength=n + 3)),
    "split": (INTEGERS, lambda x, i, m, n: torch.split(torch.arange(12.0) * x[0, 0], [n, 12 - n])[1]),
    "tensor_split": (INTEGERS, lambda x, i, m, n: torch.tensor_split(torch.arange(40.0) * x[0, 0], [n, 12])[1]),
    "adaptive_avg": (INTEGERS, lambda x, i, m, n: F.adaptive_avg_pool2d(torch.arange(40.0).view(1, 5, 8) * x[0, 0], (n, 3))),
    "adaptive_avg_length": (INTEGERS, lambda x, i, m, n: F.adaptive_avg_pool1d(torch.arange(n * 5.0)[None] * x[0, 0], 4)),
    "adaptive_max": (INTEGERS, lambda x, i, m, n: F.adaptive_max_pool1d(torch.arange(40.0)[None] * x[0, 0], n)),
    "adaptive_max_length": (INTEGERS, lambda x, i, m, n: F.adaptive_max_pool1d(torch.arange(n * 5.0)[None] * x[0, 0], 4, True)),
    "interpolate": (INTEGERS, lambda x, i, m, n: F.interpolate(torch.arange(6.0)[None, None] * x[0, 0], n)),
    "interpolate_linear": (INTEGERS, lambda x, i, m, n: F.interpolate(x[None], n, mode="linear")),
    "ignore_index": (INTEGERS, lambda x, i, m, n: F.nll_loss(x, i[:, 0].abs() % 3, ignore_index=n - 3)),
    "cross_entropy_ignore": (INTEGERS, lambda x, i, m, n: F.cross_entropy(x, i[:, 0].abs() % 3, ignore_index=n - 3)),
    "bitwise_and": (INTEGERS, lambda x, i, m, n: i & n),
    "bitwise_or": (INTEGERS, lambda x, i, m, n: i | n),
    "bitwise_xor": (INTEGERS, lambda x, i, m, n: i ^ n),
    "shift_left": (INTEGERS, lambda x, i, m, n: i << n),
    "shift_right": (INTEGERS, lambda x, i, m, n: (i * 1000) >> n),
    "view": (INTEGERS, lambda x, i, m, n: torch.ones(n, 6).view(n * 2, 3)),
    "unflatten": (INTEGERS, lambda x, i, m, n: torch.ones(n * 3).unflatten(0, (3, n))),
    "reshape": (INTEGERS, lambda x, i, m, n: torch.ones(n * 6).reshape(2, 3, n)),
    "cumsum_range": (INTEGERS, lambda x, i, m, n: torch.ones(n).cumsum(0)),
    "sum_to_size": (("size",), lambda x, i, m, n: (x * i).sum_to_size(n, 1)),
    "as_strided": (INTEGERS, lambda x, i, m, n: (torch.arange(40.0) * x[0, 0]).as_strided((n, 2), (3, 1), n)),
    "as_strided_start": (INTEGERS, lambda x, i, m, n: (torch.arange(40.0) * x[0, 0]).as_strided((n, 2), (2, 1))),
    "as_strided_step": (INTEGERS, lambda x, i, m, n: (torch.arange(40.0) * x[0, 0]).as_strided((2, 4), (n, 1))),
    "as_strided_scatter": (INTEGERS, lambda x, i, m, n: torch.arange(40.0).as_strided_scatter(x[:, :2], (n, 2), (n, 1), n)),
    "sym_max": (INTEGERS, lambda x, i, m, n: x * torch.sym_max(n, 4)),
    "sym_min": (INTEGERS, lambda x, i, m, n: x * torch.sym_min(n, 4)),
    "tensordot": (("size",), lambda x, i, m, n: torch.tensordot(x, x, dims=([0], [0])) / n),
    "scale_of_attention": (REAL, lambda x, i, m, n: F.scaled_dot_product_attention(x[None], x[None], x[None], scale=n * 0.1)),
    "gelu_chain": (REAL, lambda x, i, m, n: F.gelu(x * n) / (n + 1)),
    "bernoulli_free_dropout": (REAL, lambda x, i, m, n: F.dropout(x * n, 0.5, training=False)),
    "yolo_anchors": (REAL, lambda x, i, m, n: anchors(x, n)),
    "histc": (REAL, lambda x, i, m, n: torch.histc(x.flatten(), 4, -n, n)),
    "bucketize": (REAL, lambda x, i, m, n: torch.bucketize(x * 9, torch.arange(5.0) * n)),
    "searchsorted": (REAL, lambda x, i, m, n: torch.searchsorted(torch.arange(9.0), n)),
    "polar_free_hypot": (REAL, lambda x, i, m, n: torch.hypot(x, torch.full_like(x, n))),
    "maximum": (REAL, lambda x, i, m, n: torch.maximum(x, torch.tensor(n, dtype=x.dtype))),
    "copysign": (REAL, lambda x, i, m, n: torch.copysign(x, n)),
    "heaviside": (REAL, lambda x, i, m, n: torch.heaviside(x, torch.tensor(n, dtype=x.dtype))),
    "rrelu": (REAL, lambda x, i, m, n: F.rrelu(x, 0.1, n, training=False)),
    "rms_norm_eps": (REAL, lambda x, i, m, n: F.rms_norm(x, (3,), eps=n * 0.1)),
    "group_norm_eps": (REAL, lambda x, i, m, n: F.group_norm(x[:, :, None], 3, eps=n * 0.1)),
    "normalize": (REAL, lambda x, i, m, n: F.normalize(x, p=2.0, eps=n)),
    "softmax_temperature": (REAL, lambda x, i, m, n: torch.softmax(x / n, 1)),
    "math": (REAL, lambda x, i, m, n: x * (n * 2 + 1) / (n + 3)),
}


def assigned(x, n):
    y = x.clone()
    y[0] = n
    return y


def put(x, m, n):
    y = x.clone()
    y[m] = n
    return y


def anchors(x, n):
    """The points and strides that the heads of YOLO models make."""
    points, strides = [], []
    for stride in (8, 16):
        h, w = x.shape[0], 3
        sx = torch.arange(end=w, dtype=x.dtype) + 0.5
        sy = torch.arange(end=h, dtype=x.dtype) + 0.5
        sy, sx = torch.meshgrid(sy, sx, indexing="ij")
        points.append(torch.stack((sx, sy), -1).view(-1, 2))
        strides.append(x.new_full((h * w, 1), stride * n))
    return torch.cat(points) * torch.cat(strides)


class Program(torch.nn.Module):
    """An operator with a number of one kind."""

    def __init__(self, function, kind):
        super().__init__()
        self.function, self.kind = function, kind

    def forward(self, x, i, m, t):
        if self.kind == "size":
            n = x.shape[0]
        elif self.kind == "half":
            n = x.shape[0] * 0.5
        else:
            n = t.item()
        if self.kind == "int":
            torch._check(n >= 2)
            torch._check(n <= 12)
        return self.function(x, i, m, n)


def inputs(kind, rows, seed):
    """The number is 6 and 3 (3.0 and 1.5): never 0 or 1, for which ATen may take another path."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 3, generator=generator)
    i = torch.randint(-9, 10, (rows, 3), generator=generator)
    t = torch.tensor(rows * 0.5) if kind == "float" else torch.tensor(rows)
    return x, i, x > 0.1, t


def capture(name, kind, folder):
    """Writes the program; returns its path, or torch's reason why there is none."""
    function = OPERATORS[name][1]
    text = f"{torch.__version__} {name} {kind} {pathlib.Path(__file__).read_text(encoding='utf-8')}"
    path = folder / f"{name}_{kind}_{hashlib.sha256(text.encode()).hexdigest()[:12]}.pt2"
    if path.is_file():
        return path, None
    rows = torch.export.Dim("rows", min=2, max=12)
    try:
        with torch.no_grad():
            program = torch.export.export(
                Program(function, kind), inputs(kind, 6, 1), dynamic_shapes=({0: rows}, {0: rows}, {0: rows}, None)
            )
    except Exception as e:  # torch.export's failures have no common base class
        return None, " ".join(str(e).split())[:120]
    torch.export.save(program, path)
    return path, None


NEEDS = "needs a later opset"


def check(aton, path, name, kind, opset, folder):
    """None if the export gives torch's numbers, else what happened."""
    target = folder / f"{name}_{kind}_{opset}.onnx"
    module = Program(OPERATORS[name][1], kind)
    try:
        if aton_export(aton, path, target, opset) is not None:
            return NEEDS
        session = open_session(target)
        for rows, seed in ((6, 1), (3, 2)):
            given = inputs(kind, rows, seed)
            expected = [t.detach().numpy() for t in torch.utils._pytree.tree_leaves(module(*given))]
            wanted = {v.name: dict(zip("ximt", given))[v.name[0]].numpy() for v in session.get_inputs()}
            error = compare(expected, run_session(session, list(wanted.values())))
            if not error <= TOLERANCE:
                return f"wrong for {rows} rows: error {error:.2g}"
    except Failure as failure:
        return str(failure)
    finally:
        target.unlink(missing_ok=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", required=True, help="the command to test")
    parser.add_argument("--work", type=pathlib.Path, help="where torch's programs are kept; default: nowhere")
    parser.add_argument("--only", default="", help="only operators whose name contains this")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    counts = dict.fromkeys(("right", "wrong", "refused", NEEDS, "not captured"), 0)
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.work or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name, (kinds, _) in OPERATORS.items():
            if arguments.only not in name:
                continue
            for kind in kinds:
                path, reason = capture(name, kind, folder)
                if path is None:
                    counts["not captured"] += 1
                    print(f"{name} {kind}: torch does not capture it: {reason}")
                    continue
                for opset in OPSETS:
                    problem = check(arguments.aton, path, name, kind, opset, folder)
                    if problem is None:
                        counts["right"] += 1
                        if (name, kind) in REFUSED:
                            failures.append(f"{name} {kind} at opset {opset} is right; remove it from REFUSED")
                        continue
                    print(f"{name} {kind} at opset {opset}: {problem}")
                    if problem == NEEDS and opset != max(OPSETS):
                        counts[NEEDS] += 1
                        continue
                    refused = problem.startswith("aton export exited with 1")
                    counts["refused" if refused else "wrong"] += 1
                    if not refused or (name, kind) not in REFUSED:
                        failures.append(f"{name} {kind} at opset {opset}")
    print(", ".join(f"{n} {what}" for what, n in counts.items()), f"of {len(OPERATORS)} operators at opsets {OPSETS}")
    for failure in failures:
        print(f"unexpected: {failure}", file=sys.stderr)
    return 1 if failures or not counts["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
