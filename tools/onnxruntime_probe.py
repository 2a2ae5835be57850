# SPDX-License-Identifier: MIT
"""Whether ONNX Runtime loads a model of one node. Used by generate_onnxruntime_kernels.py."""

import functools
import re

OLDEST_OPSET = 7  # ONNX Runtime guarantees nothing below
DTYPES = (  # by their numbers in TensorProto.DataType
    "undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 bfloat16 "
    "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2"
).split()
NUMBERS = {"kernel_shape": [2, 2], "pooled_shape": [2, 2], "scales": [1.0, 1.0], "shape": [2, 2], "blocksize": 2, "equation": "ij,jk->ik"}
NUMBERS |= {"axis": 0, "direction": "LEFT", "pattern": "a", "mode": "TF", "image_shape": [2, 2], "hidden_size": 3}
DTYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "output_datatype")  # of the first result


@functools.cache
def runtime():
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    return onnxruntime


def loads(node, inputs, outputs, opset):
    """Whether a model of one node loads. Values are pairs of a name and a dtype, and their sizes are unknown."""
    from onnx import helper

    graph = helper.make_graph([node], "probe", *([helper.make_tensor_value_info(*v, None) for v in vs] for vs in (inputs, outputs)))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    ort = runtime()
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 4
    try:
        ort.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    except Exception:  # ONNX Runtime raises one type per status code
        return False
    return True


@functools.cache
def newest_opset():
    from onnx import helper

    opset = OLDEST_OPSET
    while loads(helper.make_node("Relu", ["x"], ["y"]), [("x", 1)], [("y", 1)], opset + 1):
        opset += 1
    return opset


def dtype_of(text):
    found = re.fullmatch(r"tensor\((\w+)\)", text)
    return DTYPES.index(found[1]) if found and found[1] in DTYPES else None


def attributes_of(schema, types):
    from onnx import helper

    result = dtype_of(types.get(schema.outputs[0].typeStr, schema.outputs[0].typeStr))
    out = {name: result for name in DTYPE_ATTRIBUTES if name in schema.attributes}
    if schema.name in ("Constant", "ConstantOfShape"):
        number = "a" if DTYPES[result] == "string" else 0
        out["value"] = helper.make_tensor("value", result, [1], [number])
    defaults = {"INT": 1, "FLOAT": 1.0, "STRING": "a", "INTS": [1], "FLOATS": [1.0], "STRINGS": ["a"]}
    for name, a in schema.attributes.items():
        if (a.required or name == "hidden_size") and name not in out:
            out[name] = NUMBERS.get(name, defaults.get(str(a.type).rpartition(".")[2]))
    return out


def probe(schema, types, opset):
    """Whether a node with these types loads. Optional results are left out."""
    from onnx import helper

    inputs, outputs = [], []
    for values, formals in ((inputs, schema.inputs), (outputs, schema.outputs)):
        for i, f in enumerate(formals):
            if values is outputs and i != 0 and str(f.option).endswith("Optional"):
                break
            dtype = dtype_of(types.get(f.typeStr, f.typeStr))
            if dtype is None:
                return False
            values.append(("xy"[values is outputs] + str(i), dtype))
    node = helper.make_node(schema.name, [n for n, _ in inputs], [n for n, _ in outputs], **attributes_of(schema, types))
    return loads(node, inputs, outputs, opset)
