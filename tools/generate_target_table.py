#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a table of data/targets from what a runtime's vendor states about it.

    generate_target_table.py tensorrt operators.md --version 10.15 --source URL --date 2026-02-03 >data/targets/tensorrt-10.15.target
    generate_target_table.py qnn op_builder_factory.cc --version 2.0 --source URL --date 2026-03-13 >data/targets/qnn-2.0.target

operators.md is docs/operators.md of a release of github.com/onnx/onnx-tensorrt. Each row of its table becomes a row with the number of its
line in the source: the operator, its element types, and its restrictions as conditions (data/targets/README.md). A restriction that is
not known here is an error, so that none is lost. op_builder_factory.cc of github.com/onnxruntime/onnxruntime-qnn registers the operators of
ONNX Runtime's QNN provider, whatever their types. So do js/web/docs/webgpu-operators.md, with opsets, and, with restrictions,
tools/ci_build/github/apple/coreml_supported_mlprogram_ops.md of ONNX Runtime for the providers WebGPU (in browsers) and CoreML. `--check FILE` compares with a table instead of printing it.
"""
import argparse
import pathlib
import re
import sys

import onnx

TYPES = {"FP32": "float32", "FLOAT32": "float32", "FP16": "float16", "FLOAT16": "float16", "BF16": "bfloat16", "BFLOAT16": "bfloat16",
         "INT32": "int32", "INT64": "int64", "INF64": "int64", "INT8": "int8", "INT4": "int4", "UINT8": "uint8", "BOOL": "bool",
         "FP8": "float8_e4m3fn", "FP4": "float4_e2m1fn"}
DOUBLE = "DOUBLE"  # is computed as float32, which gives other numbers

# What the sentences of a restriction mean; {0} is the word that the group matched. Later statements are in EARLIER.
RESTRICTIONS = (
    (r"2d or 3d pooling only", "input X rank 4 5"),
    (r"`dilations` must be empty or all ones", "attribute dilations ones"),
    (r"`(\w+)` output tensor unsupported", "output {0} absent"),
    (r"only the first output `y` is supported", "output Mean absent; output InvStdDev absent"),
    (r"`sparse_value`, `value_string`, and `value_strings` attributes are unsupported",
     "attribute sparse_value absent; attribute value_string absent; attribute value_strings absent"),
    (r"`(\w+)` must be (?:an initializer|a build-time constant|a constant tensor|resolvable to a constant)", "input {0} constant"),
    (r"`is_trai?ning` must be an initializer and evaluate to false", "input training_mode constant; input training_mode zero"),
    (r"`frame_step` and `window` must be an initializer", "input frame_step constant; input window constant"),
    (r"input must be real-valued", "input signal last 1"),
    (r"`input` must have 1d or 2d spatial dimensions", "input X rank 3 4"),
    (r"`pads` for the beginning and end along each spatial axis must be the same", "attribute pads mirrored"),
    (r"`(\w_zero_point)` must be (?:zero|0)", "input {0} zero"),
    (r"`input` must have static dimensions", "input input static"),
    (r"input must be 4d input", "input X rank 4"),
    (r"for bidirectional \w+, activation functions must be the same for both the forward and reverse pass",
     "attribute activations both-directions"),
    (r"`(input_forget|layout)` attribute must be 0", "attribute {0} is 0"),
    (r"`axis` dimension of input must be a build-time constant", "attribute axis static"),
    (r"output tensors of the two conditional branches must have the same rank and must have different names", "branches same-rank"),
    (r"scan output length cannot be dynamic", "loop fixed-length"),
    (r"the shape of loop carried dependencies must be the same across all loop iterations", "loop same-sizes"),
    (r"`seed` value is ignored by tensorrt", ""),  # no program depends on which numbers are drawn
    (r"supported resize transformation modes: (.*)", "attribute coordinate_transformation_mode is {0}"),
    (r"supported resize modes: (.*)", "attribute mode is {0}"),
    (r"supported nearest modes: (.*)", "attribute nearest_mode is {0}"),
    (r"supported aspect ratio policy: (.*)", "attribute keep_aspect_ratio_policy is {0}"),
    (r"when `scales` is a tensor input, `axes` must be an iota vector of length rank\(input\)", "attribute axes counting"),
    (r"antialiasing is not supported", "attribute antialias is 0"),
    (r"`reduction` (?:other than `none` )?is not supported", "attribute reduction is none"),
    (r"`sorted` must be 1", "attribute sorted is 1"),
    (r"`k` input must be less than (\d+)", "input K under {0}"),
    (r"`position_ids` must be int64", "input position_ids type int64"),
    (r"`past_cache` and `update` must be 4d", "input past_cache rank 4; input update rank 4"),
    (r"`axis` must be -2", "attribute axis is -2"),
    (r"`q`, `k`, `v` and `attn_mask ` must be 4d", "input Q rank 4; input K rank 4; input V rank 4; input attn_mask rank 4"),
    (r"`past_key`, `past_value` and `nonpad_kv_seqlen` inputs are unsupported",
     "input past_key absent; input past_value absent; input nonpad_kv_seqlen absent"),
    (r"`present_key`, `present_value` and `qk_matmul_output` outputs are unsupported",
     "output present_key absent; output present_value absent; output qk_matmul_output absent"),
    (r"`qk_matmul_output_mode` and `softcap` attributes are unsupported",
     "attribute qk_matmul_output_mode is 0; attribute softcap is 0"),
    (r"`q_num_heads` and `kv_num_heads` attributes are supported via being specified as .*", ""),  # follows from the ranks
)
# What a later release is stated to have added, and earlier ones therefore lack: the operator, its condition before, and the release.
EARLIER = {"Squeeze": ("input axes given", (11, 5))}
CONTROL_FLOW = ("If", "Loop", "Scan")


def sentences(cell):
    for part in re.split(r"<br />|\.\s+", cell.strip()):
        if part := part.strip().rstrip(".").strip():
            yield part


def condition(sentence, place):
    for pattern, meaning in RESTRICTIONS:
        if found := re.fullmatch(pattern, sentence, re.IGNORECASE):
            words = found[1] if found.groups() else ""
            if words.startswith("`") or ", " in words:
                words = " ".join(re.findall(r"`(\w+)`", words))
            return meaning.format(words)
    raise SystemExit(f"{place}: a restriction that is not known: {sentence!r}")


def types_of(cell, place):
    names = [name for name in re.split(r"[,\s]+", cell.replace("and ", "").strip()) if name]
    unknown = [name for name in names if name not in TYPES and name != DOUBLE]
    if unknown:
        raise SystemExit(f"{place}: types that are not known: {', '.join(unknown)}")
    return [TYPES[name] for name in names if name != DOUBLE]


def check_defaults(op, when, place):
    """A condition on an attribute holds where the attribute is not given; its default must be allowed."""
    schema = onnx.defs.get_schema(op)
    for name, values in re.findall(r"attribute (\w+) is ([^;]+)", when):
        given = schema.attributes.get(name)
        default = onnx.helper.get_attribute_value(given.default_value) if given and given.default_value.name else None
        text = default.decode() if isinstance(default, bytes) else f"{default:g}" if default is not None else None
        if text is not None and text not in values.split():
            raise SystemExit(f"{place}: the default of {name}, {text}, is not among {values}")


def is_of_result(op, types):
    """Whether the types are those of the result: the first input is a size or a position."""
    if op in CONTROL_FLOW or not onnx.defs.has(op):
        return False
    schema = onnx.defs.get_schema(op)
    return bool(schema.inputs) and set(schema.inputs[0].types) <= {"tensor(int32)", "tensor(int64)"}


def rows(lines, version):
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 2 or not re.match(r"[YN]\b", cells[1]) or not onnx.defs.has(cells[0]):
            continue
        op, place = cells[0], f"line {number}"
        if cells[1].startswith("N"):
            yield f"{op} | none | | {number}"
            continue
        types = " ".join(types_of(cells[2] if len(cells) > 2 else "", place))
        when = [condition(s, place) for s in sentences(cells[3] if len(cells) > 3 else "")]
        if op in EARLIER and version < EARLIER[op][1]:
            when.append(EARLIER[op][0])
        if types and is_of_result(op, types):
            when.append(f"output {onnx.defs.get_schema(op).outputs[0].name} type {types}")
            types = ""
        text = "; ".join(filter(None, when))
        check_defaults(op, text, place)
        yield f"{op} | {types or 'any'} | {text} | {number}"


def tensorrt(text, version):
    """What comes before the rows, and the rows."""
    stated = re.search(r"TensorRT [\d.]+ supports operators in the inclusive range of opset (\d+) to opset (\d+)", text)
    types = re.search(r"TensorRT supports the following ONNX data types: (.*)", text)
    if not stated or not types:
        raise SystemExit("the source does not say which opsets and types it is about")
    head = [f"opsets {stated[1]}..{stated[2]}", "types " + " ".join(types_of(types[1], "types")),
            f"typing {'strong' if version >= (11, 0) else 'weak'}"]  # 11.0.0 removed the other mode, say its release notes
    if "zero_point` must be" in text:
        head.append("quantization symmetric")
    return head, list(rows(text.splitlines(), version))


def qnn(text, version):
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if (op := re.search(r'^\s*Create\w*OpBuilder\("(\w+)"', line)) and onnx.defs.has(op[1]):
            found.setdefault(op[1], number)
    if not found:
        raise SystemExit("the source registers no operator")
    # ONNX Runtime turns Constant nodes into initializers before a provider sees them. The provider takes no dynamic sizes.
    return ["sizes static"], [f"{op} | any |  | {line}" for op, line in sorted(found.items())] + ["Constant | any |  | ONNX Runtime"]


def kernel_versions(op, ranges):
    """A condition if some definitions of the operator have no kernel: "7-12,13+" has those since 7 to 12 and the one since 13. ONNX Runtime
    does not use an open kernel for a later definition."""
    since = sorted(s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == op and not s.domain)
    bounds = [(int(r.rstrip("+").split("-")[0]), int(r.rstrip("+").split("-")[-1])) for r in ranges.split(",")]
    has = [s for s in since if any(first <= s <= last for first, last in bounds)]
    return "" if has == since else f"schema since {' '.join(map(str, has))}"


WEBGPU_COMMENTS = {
    "need perf optimization": "", "need implementing activation": "", "no GPU kernel": "", "an ORT warning is generated - need to fix": "",
    "conv3d is not supported": "input X rank 3 4", "ConvTranspose3d is not supported": "input X rank 3 4",
    "CoordinateTransformMode align_corners is not supported with downsampling":  # whose sizes may not be known
        "attribute coordinate_transformation_mode is half_pixel half_pixel_symmetric pytorch_half_pixel tf_crop_and_resize asymmetric",
}
CONSTANT = "Constant | any |  | ONNX Runtime"  # which makes an initializer of it before a provider sees it


def webgpu(text, version):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        row = re.fullmatch(r"\| (\w+) \| (?:.*; )?ai\.onnx\(([\d,+-]+)\).*? \| (.*?) ?\|", line)
        if not row or not onnx.defs.has(row[1]):
            continue
        unknown = [each for each in row[3].split("; ") if each and each not in WEBGPU_COMMENTS]
        if unknown:
            raise SystemExit(f"line {number}: a comment that is not known: {unknown[0]!r}")
        when = [kernel_versions(row[1], row[2])] + [WEBGPU_COMMENTS[each] for each in row[3].split("; ") if each]
        found.append(f"{row[1]} | any | {'; '.join(filter(None, when))} | {number}")
    if not found:
        raise SystemExit("the source lists no operator")
    return [], [*found, CONSTANT]


COREML_NOTES = {
    "Only 2D Pool is supported currently": "input X rank 4", "3D and 5D support can be added if needed": "",
    "Only 1D/2D Conv is supported": "input X rank 3 4", "Bias if provided must be constant": "input B constant",
    "Weight and bias must be constant": "input W constant; input B constant",
    "padding_type of SAME_UPPER/SAME_LOWER is not supported": "attribute auto_pad is NOTSET VALID",
    "kernel_shape must have default values": "",  # the sizes of the weight, which ONNX asks for
    "output_shape is not supported": "attribute output_shape absent",
    "output_padding must have default values": "attribute output_padding absent",
    "If 'mode' is 'CRD' the input must have a fixed shape": "input input static",
    "Input B must be constant": "input B constant", "4D input": "input X rank 4",
    "'mode' of 'linear' or 'zeros'": "attribute mode is linear bilinear",
    "(mode==linear && padding_mode==reflection && align_corners==0) is not supported": "attribute padding_mode is zeros border",
    "Only support for transA == 0, alpha == 1.0 and beta == 1.0 is currently implemented": "",  # MatMul has none of them
    "Only supports cases when both inputs are fp32": "input X type float32; input Y type float32",
    "this ask for a `epislon` (default 1e-4) where onnx don't provide": "",
    "starts/ends/axes/steps must be constant initializers":
        "input starts constant; input ends constant; input axes constant; input steps constant",
    "If provided, `splits` must be constant": "input split constant",
}


def coreml(text, version):
    names = {schema.name.lower(): schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        row = re.fullmatch(r"\|ai\.onnx:(\w+)\|(.*)\|", line)
        if not row:
            continue
        op = names[row[1].lower()]
        if "There are too many permutations" in row[2]:  # it does not state which
            found.append(f"{op} | none | | {number}")
            continue
        notes = [note.strip().rstrip(".") for note in re.split(r"<br/>|\.\s+", row[2]) if note.strip()]
        unknown = [note for note in notes if note not in COREML_NOTES]
        if unknown:
            raise SystemExit(f"line {number}: a note that is not known: {unknown[0]!r}")
        when = "; ".join(filter(None, (COREML_NOTES[note] for note in notes)))
        check_defaults(op, when, f"line {number}")
        found.append(f"{op} | any | {when} | {number}")
    if not found:
        raise SystemExit("the source lists no operator")
    return [], [*found, CONSTANT]


READERS = {"tensorrt": (tensorrt, "TensorRT {}"), "webgpu": (webgpu, "ONNX Runtime's WebGPU provider {}"),
           "coreml": (coreml, "ONNX Runtime's CoreML provider {}"), "qnn": (qnn, "ONNX Runtime's QNN provider {}")}


def table(text, args):
    reader, title = READERS[args.runtime]
    head, body = reader(text, tuple(int(part) for part in args.version.split(".")))
    return "\n".join(["# Written by tools/generate_target_table.py from the source below; README.md describes the format.",
                      f"runtime {args.runtime}", f"version {args.version}", "title " + title.format(args.version),
                      f"source {args.source}", f"date {args.date}", *head, "", *body]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runtime", choices=sorted(READERS))
    parser.add_argument("statement", type=pathlib.Path)
    for name in ("version", "source", "date"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--check", type=pathlib.Path, metavar="FILE")
    args = parser.parse_args()
    text = table(args.statement.read_text(), args)
    if args.check is None:
        print(text, end="")
    elif args.check.read_text() != text:
        raise SystemExit(f"{args.check}: differs from what its source says; write it again with tools/generate_target_table.py")


if __name__ == "__main__":
    sys.exit(main())
