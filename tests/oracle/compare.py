# SPDX-License-Identifier: MIT
"""Compares the outputs of a model with the recorded results of ATen."""

import numpy as np

from oracle_data import arguments_by_name

# |got - expected| <= atol + rtol * |expected|. Half types: about 4 units in the last place, since ONNX Runtime may
# round where ATen accumulates in float32. Integers and bools are compared exactly.
TOLERANCE = {  # dtype: (rtol, atol)
    "float64": (1e-7, 1e-9),
    "float32": (1e-4, 1e-5),
    "float16": (4e-3, 1e-3),
    "bfloat16": (3.2e-2, 8e-3),
    "complex64": (1e-4, 1e-5),
}


def snippet(array, at=None):
    flat = array.reshape(-1) if at is None else array[at].reshape(-1)
    return "[" + ", ".join(str(v) for v in flat[:6].tolist()) + (", ...]" if flat.size > 6 else "]")


def difference(expected, got):
    """Why two arrays of one dtype and shape differ; '' if they agree. NaN must match NaN, and infinities must match in sign."""
    name = expected.dtype.name
    if name not in TOLERANCE:
        wrong = expected != got
        if not wrong.any():
            return ""
        count = f"{int(wrong.sum())} of {wrong.size} values differ"
        return f"{count}: expected {snippet(expected, wrong)}, got {snippet(got, wrong)}"
    rtol, atol = TOLERANCE[name]
    wide = np.complex128 if name.startswith("complex") else np.float64
    e, g = expected.astype(wide), got.astype(wide)
    if wide is np.complex128:
        e, g = np.stack([e.real, e.imag]), np.stack([g.real, g.imag])
    finite = np.isfinite(e) & np.isfinite(g)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(finite, np.abs(g - e), 0)
        close = finite & (error <= atol + rtol * np.abs(e))
    same = (np.isnan(e) & np.isnan(g)) | (e == g) | close
    if same.all():
        return ""
    wrong = ~same
    if (np.isnan(e) != np.isnan(g)).any():
        what = "NaN at different positions"
    elif (np.isinf(e) != np.isinf(g)).any():
        what = "infinities at different positions"
    else:
        what = f"max error {error.max():.3g}"
    count = f"{int(wrong.sum())} of {wrong.size} values differ"
    return f"{count} ({what}): expected {snippet(e, wrong)}, got {snippet(g, wrong)}"


def as_reals(array):
    """Models hold complex tensors as reals with a trailing axis of 2."""
    return np.stack([array.real, array.imag], axis=-1) if np.iscomplexobj(array) else array


def type_difference(expected, got):
    if expected.dtype != got.dtype:
        return f"dtype {got.dtype.name}, expected {expected.dtype.name}"
    if expected.shape != got.shape:
        return f"shape {list(got.shape)}, expected {list(expected.shape)}"
    return ""


def gathered(case, tensors, indices):
    """The elements of `self` that an index output selects along `dim`; None if the call has another form."""
    arguments = arguments_by_name(case)
    if not isinstance(arguments.get("self"), dict):
        return None
    source = tensors[arguments["self"]["tensor"]]
    dim = arguments.get("dim", -1)
    if dim is None or not isinstance(dim, int):
        return None
    if source.ndim == 0:
        return source.reshape(1)[indices.reshape(-1)]
    if indices.ndim == source.ndim - 1:
        indices = np.expand_dims(indices, dim)
    if indices.ndim != source.ndim or (indices < 0).any() or (indices >= source.shape[dim]).any():
        return None
    return np.take_along_axis(source, indices, dim)


def compare_tensor(case, tensors, expected, got):
    """Why one output is wrong; '' if it is right."""
    expected = as_reals(expected)
    wrong_type = type_difference(expected, got)
    if wrong_type or case["compare"] == "meta":
        return wrong_type
    if case["compare"] == "nonunique":  # compare_invariants() compares the values
        return ""
    wrong = difference(expected, got)
    # Ties: any index of an equal value is correct.
    if wrong and "ties" in case["flags"] and expected.dtype == np.int64:
        e, g = gathered(case, tensors, expected), gathered(case, tensors, got)
        if e is not None and g is not None and e.shape == g.shape:
            wrong = difference(e, g)
    return wrong


def as_array(recorded, tensors, got):
    """A recorded result as an array. Plain numbers are 0-d: int64, bool, or a float as wide as the model's."""
    if isinstance(recorded, dict) and "tensor" in recorded:
        return tensors[recorded["tensor"]]
    if isinstance(recorded, bool):
        return np.array(recorded)
    if isinstance(recorded, int):
        return np.array(recorded, dtype=np.int64)
    width = got.dtype if got.dtype in (np.float32, np.float64) else np.float64
    return np.array(float(recorded["float"]), dtype=width)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def of_eigenvectors(w, v):
    return [w, v * w[..., None, :] @ adjoint(v), adjoint(v) @ v]


def of_singular_vectors(u, s, v):
    n = s.shape[-1]
    return [u[..., :n] * s[..., None, :] @ adjoint(v[..., :n]), s, adjoint(u) @ u, adjoint(v) @ v]


# The signs of vectors are arbitrary, and so are the bases of those that belong to equal values. These functions of the results are not.
INVARIANTS = {
    "aten::linalg_eigh": of_eigenvectors,
    "aten::_linalg_eigh": of_eigenvectors,
    "aten::svd": of_singular_vectors,
    "aten::linalg_svd": lambda u, s, vh: of_singular_vectors(u, s, adjoint(vh)),
    "aten::_linalg_svd": lambda u, s, vh: of_singular_vectors(u, s, adjoint(vh)),
    "aten::qr": lambda q, r: [q @ r, adjoint(q) @ q],
    "aten::linalg_qr": lambda q, r: [q @ r, adjoint(q) @ q],
    "aten::geqrf": lambda a, tau: [a, tau],
    "aten::linalg_lstsq": lambda *all: list(all),
}


def compare_invariants(case, expected, got):
    """Why results whose choice is arbitrary do not fit together; '' if they do, or if vectors are not among them."""
    of = INVARIANTS.get(case["op"])
    vectors = expected[0] if of is not of_eigenvectors else expected[-1]
    if of is None or (vectors.ndim < 2 and "lstsq" not in case["op"]):
        return ""
    for i, (e, g) in enumerate(zip(of(*expected), of(*got))):
        if wrong := difference(e, g.astype(e.dtype)):
            return f"invariant {i}: {wrong}"
    return ""


def compare_outputs(case, tensors, layout, produced):
    """Compares the outputs {name: array} with the case. `layout` names them: one entry per result, a list for a
    Tensor[], None if the mapping does not produce the result. Returns (problem or '', indices of the results not
    produced)."""
    if len(layout) != len(case["outputs"]):
        return f"{len(layout)} results, expected {len(case['outputs'])}", []
    missing, compared = [], 0
    for i, (name, recorded) in enumerate(zip(layout, case["outputs"])):
        if recorded is None:
            continue
        if name is None:
            missing.append(i)
            continue
        names, expected = (name, recorded) if isinstance(recorded, list) else ([name], [recorded])
        if not isinstance(names, list) or len(names) != len(expected):
            count = len(names) if isinstance(names, list) else 1
            return f"result {i}: a list of {count}, expected {len(expected)}", missing
        for part, (n, r) in enumerate(zip(names, expected)):
            got = produced[n]
            problem = compare_tensor(case, tensors, as_array(r, tensors, got), got)
            if problem:
                return f"result {i}{f'[{part}]' if isinstance(recorded, list) else ''}: {problem}", missing
        compared += 1
    if missing and compared == 0:
        return "no result is produced", missing
    if case["compare"] == "nonunique" and not missing and not any(isinstance(r, list) for r in case["outputs"]):
        got = [produced[name] for name in layout]
        return compare_invariants(case, [as_array(r, tensors, g) for r, g in zip(case["outputs"], got)], got), missing
    return "", missing
