# SPDX-License-Identifier: MIT
"""Programs that draw random numbers, exported by torch and by the aton command, in ONNX Runtime. With random operators: the
results have torch's distribution (a two-sample Kolmogorov-Smirnov test, mean and deviation), two draws of a program differ,
and a seed repeats a run. With --random inputs: the results are exactly what torch's formula gives for the numbers that are
put in. Exit status: 0 if all is so, 77 without torch."""

import argparse
import logging
import pathlib
import re
import sys
import tempfile
import warnings

import numpy as np

from checking import Failure, aton_export, open_session

try:
    import onnxruntime  # noqa: F401
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)

OPSETS = (13, 20)
COUNT = 20000  # elements of a result
LIMIT = 2.3  # of the scaled statistic: exceeded once in 40,000 tests if the distributions are equal

# x has COUNT elements between 0 and 1; p and w are rows of weights.
PROGRAMS = {
    "rand": lambda x: torch.rand(x.shape[0], 50),
    "rand_half": lambda x: torch.rand_like(x, dtype=torch.float16),
    "rand_double": lambda x: torch.rand_like(x, dtype=torch.float64),
    "uniform": lambda x: torch.empty_like(x).uniform_(-3, 5),
    "randn": lambda x: torch.randn(x.shape[0], 50),
    "randn_like": lambda x: torch.randn_like(x) * 2 - 1,
    "normal": lambda x: torch.empty_like(x).normal_(1.5, 0.5),
    "normal_of_size": lambda x: torch.normal(-1.0, 3.0, (400, 50)) + 0 * x,
    "normal_tensors": lambda x: torch.normal(x, x + 1),
    "normal_mean": lambda x: torch.normal(x, 2.0),
    "normal_deviation": lambda x: torch.normal(0.5, x),
    "log_normal": lambda x: torch.empty_like(x).log_normal_(0.5, 0.25),
    "exponential": lambda x: torch.empty_like(x).exponential_(2.5),
    "cauchy": lambda x: torch.empty_like(x).cauchy_(1.0, 0.5),
    "geometric": lambda x: torch.empty_like(x).geometric_(0.3),
    "bernoulli": lambda x: torch.bernoulli(x),
    "bernoulli_p": lambda x: torch.empty_like(x).bernoulli_(0.3),
    "randint": lambda x: torch.randint(-7, 25, (x.shape[0], 50)),
    "randint_like": lambda x: torch.randint_like(x, 9),
    "randperm": lambda x: torch.randperm(20000),
    "multinomial": lambda x: torch.multinomial(x, 30, replacement=True),
    "multinomial_distinct": lambda x: torch.multinomial(x, 7),
    "dropout": lambda x: F.dropout(x, 0.3, training=True),
    "dropout_of_channels": lambda x: F.dropout1d(x.unsqueeze(-1).expand(-1, -1, 3), 0.4, training=True),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.2, training=True),
    "rrelu": lambda x: F.rrelu(x - 0.5, 0.1, 0.6, training=True),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.2)[..., 0],
    "computed": lambda x: torch.randint(0, x.shape[0], (x.shape[0], 50)) + torch.rand(x.shape[0], 50) * x.shape[0],
}


class Program(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def numbers(x):
    return np.asarray(x).astype(np.float64).ravel()


def statistic(a, b):
    """The two-sample Kolmogorov-Smirnov statistic, scaled so that its distribution does not depend on the sizes."""
    every = np.sort(np.concatenate([a, b]))
    gap = np.abs(
        np.searchsorted(np.sort(a), every, side="right") / a.size - np.searchsorted(np.sort(b), every, side="right") / b.size
    ).max()
    return gap * np.sqrt(a.size * b.size / (a.size + b.size))


def check_distribution(name, expected, drawn):
    if expected.shape != drawn.shape or expected.dtype != drawn.dtype:
        return f"{drawn.dtype} {drawn.shape}, torch gives {expected.dtype} {expected.shape}"
    a, b = numbers(expected), numbers(drawn)
    if name == "randperm":
        return None if np.array_equal(np.sort(b), np.arange(b.size)) and not np.array_equal(b, np.sort(b)) else "no permutation"
    if name == "multinomial_distinct" and any(len(set(row)) != len(row) for row in drawn.tolist()):
        return "a category is drawn twice"
    found = statistic(a, b)
    if not found <= LIMIT:
        return f"another distribution than torch's: Kolmogorov-Smirnov {found:.2f}, at most {LIMIT}"
    if name != "cauchy":  # which has no mean
        error = 6 * (a.std() + 1e-12) / np.sqrt(a.size)
        if not abs(a.mean() - b.mean()) <= 2 * error or not abs(a.std() - b.std()) <= 12 * error:
            return f"mean {b.mean():.3g} and deviation {b.std():.3g}, torch's are {a.mean():.3g} and {a.std():.3g}"
    return None


def fed(session, x, generator):
    """Values for all inputs: x, and numbers of the declared kinds."""
    values = {}
    for i in session.get_inputs():
        if i.name == "x":
            values[i.name] = x
            continue
        shape = [d if isinstance(d, int) else x.shape[0] for d in i.shape]
        kind = np.float64 if "double" in i.type else np.float32
        is_normal = re.search(r"_(uniform|normal)(_\d+)?$", i.name).group(1) == "normal"
        values[i.name] = (generator.standard_normal if is_normal else generator.random)(shape).astype(kind)
    return values


# What torch's operators compute from the numbers that are put in, as numpy formulas.
FORMULAS = {
    "rand": lambda x, u: u,
    "uniform": lambda x, u: u * np.float32(8) + np.float32(-3),
    "randn_like": lambda x, z: z * 2 - 1,
    "normal_tensors": lambda x, z: x + (x + 1) * z,
    "log_normal": lambda x, z: np.exp(z * np.float32(0.25) + np.float32(0.5)),
    "exponential": lambda x, u: -np.log(1 - u) / np.float32(2.5),
    "geometric": lambda x, u: np.maximum(np.ceil(np.log(1 - u.astype(np.float64)) / np.log1p(-0.3)), 1),
    "bernoulli": lambda x, u: (u < x).astype(np.float32),
    "randint": lambda x, u: np.floor(u * 32).astype(np.int64) - 7,
    "randperm": lambda x, u: np.argsort(u, kind="stable"),
    "dropout": lambda x, u: x * (u >= np.float32(0.3)) * np.float32(1 / 0.7),
    "rrelu": lambda x, u: np.where(x <= 0.5, (x - np.float32(0.5)) * (u * np.float32(0.5) + np.float32(0.1)), x - np.float32(0.5)),
}


def check(aton, name, path, folder, opset):
    """What is wrong with a program at an opset, or None."""
    target = folder / "random.onnx"
    x = torch.rand(400, 50, generator=torch.Generator().manual_seed(1))
    expected = PROGRAMS[name](x).numpy()

    def session_of(*options):
        aton_export(aton, path, target, opset, *options)
        return open_session(target)

    try:
        seeded = session_of("--seed", "7")
        first = seeded.run(None, {"x": x.numpy()} if seeded.get_inputs() else {})[0]
        problem = check_distribution(name, expected, first)
        if problem is not None:
            return problem
        again = session_of("--seed", "7")
        if not np.array_equal(first, again.run(None, {"x": x.numpy()} if again.get_inputs() else {})[0], equal_nan=True):
            return "a seed does not repeat the run"
        if np.array_equal(first, expected):
            return "torch's own numbers, which cannot be"
        open_for_input = session_of("--random", "inputs")
        values = fed(open_for_input, x.numpy(), np.random.default_rng(5))
        if name in FORMULAS:
            drawn = [v for n, v in values.items() if n != "x"]
            wanted = FORMULAS[name](x.numpy(), *drawn)
            found = open_for_input.run(None, values)[0]
            if not np.allclose(found, wanted, rtol=2e-6, atol=1e-6):
                return f"not what the formula gives for the given numbers: off by {np.abs(found - wanted).max():.2g}"
        elif not np.array_equal(*(open_for_input.run(None, values)[0] for _ in range(2)), equal_nan=True):
            return "with its random numbers as inputs, the model still draws some"
    except Failure as failure:
        return str(failure)
    finally:
        target.unlink(missing_ok=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", required=True, help="the command to test")
    parser.add_argument("--only", default="", help="only programs whose name contains this")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    torch.manual_seed(3)
    failures = right = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, function in PROGRAMS.items():
            if arguments.only not in name:
                continue
            path = folder / "random.pt2"
            rows = torch.export.Dim("rows", min=2, max=4000)
            dynamic = None if name in ("normal_of_size",) else ({0: rows},)
            with torch.no_grad():
                exported = torch.export.export(Program(function), (torch.rand(400, 50),), dynamic_shapes=dynamic)
            for kind, program in (("raw", exported), ("decomposed", exported.run_decompositions())):
                torch.export.save(program, path)
                for opset in OPSETS:
                    problem = check(arguments.aton, name, path, folder, opset)
                    right += problem is None
                    if problem is not None:
                        failures += 1
                        print(f"{name} ({kind}) at opset {opset}: {problem}")
    print(f"{right} graphs right, {failures} wrong")
    return 1 if failures or not right else 0


if __name__ == "__main__":
    sys.exit(main())
