# SPDX-License-Identifier: MIT
"""aton optimize on models that Aton did not write: ONNX Runtime gives the same results before and after, and ONNX's checker accepts both.

usage: run_optimize.py --aton ATON [--only TEXT] [--every N] [--models FOLDER] [--no-tests] [--peers]

The models are ONNX's node tests, the same with their inputs as constants (which folds what they test), the models of ONNX's backend
tests, and with --models the .onnx files of a folder. A model is right if its inputs, outputs and metadata are the same, if its results
on the recorded or on drawn inputs are those of the model as it was, and if optimizing it again changes no byte. Models that ONNX Runtime
does not run are only checked. --peers counts the nodes that onnxsim and onnxslim leave, where these are installed.
"""

import argparse
import collections
import dataclasses
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from compare_results import difference, draw_inputs, is_random, run  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from onnx.backend.test.case.node import collect_testcases  # noqa: E402

onnxruntime.set_default_logger_severity(4)

SIZES = (0, 48, 64, 288, 512)  # of dimensions that a model leaves open: the first with which it runs


@dataclasses.dataclass
class Case:
    name: str
    model: onnx.ModelProto
    feeds: dict | None = None  # None: drawn
    path: Path | None = None  # of a file with external data


def arrays_of(values: list, graph: onnx.GraphProto) -> dict | None:
    """Recorded values by the names of the inputs."""
    given = [i.name for i in graph.input]
    return None if len(values) > len(given) else dict(zip(given, values, strict=False))


def with_constants(case: Case) -> Case | None:
    """The model with its tensors as initializers, so that all of it can be computed."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    if case.feeds is None or model.ir_version < 4:
        return None
    kept = [i for i in model.graph.input if not isinstance(case.feeds.get(i.name), numpy.ndarray)]
    if len(kept) == len(model.graph.input) or any(i.name for i in kept):
        return None
    for name, array in case.feeds.items():
        if array.dtype.kind in "OU" or array.dtype.kind == "V":
            return None
        try:
            model.graph.initializer.append(numpy_helper.from_array(array, name))
        except Exception:  # a dtype that numpy_helper does not write
            return None
    del model.graph.input[:]
    return Case(f"constant/{case.name}", model, {})


def node_cases() -> Iterator[Case]:
    for each in collect_testcases(None):
        if each.model is None or not each.data_sets:
            continue
        case = Case(each.name, each.model, arrays_of(list(each.data_sets[0][0]), each.model.graph))
        yield dataclasses.replace(case, name=f"node/{each.name}")
        if (folded := with_constants(case)) is not None:
            yield folded


def file_cases(folder: Path) -> Iterator[Case]:
    for path in sorted(folder.rglob("*.onnx")):
        try:
            model = onnx.load(path, load_external_data=False)
        except Exception:  # not a model
            continue
        feeds = None
        if (data := path.parent / "test_data_set_0").is_dir():
            tensors = []
            for i in range(len(list(data.glob("input_*.pb")))):
                try:
                    tensors.append(numpy_helper.to_array(onnx.load_tensor(str(data / f"input_{i}.pb"))))
                except Exception:  # a sequence
                    break
            feeds = arrays_of(tensors, model.graph) if tensors else None
        yield Case(str(path.relative_to(folder).with_suffix("")), model, feeds, path)


def all_nodes(graph: onnx.GraphProto) -> int:
    count = len(graph.node)
    for node in graph.node:
        for a in node.attribute:
            count += sum(all_nodes(g) for g in ([a.g] if a.HasField("g") else list(a.graphs)))
    return count


def is_valid(path: Path) -> str | None:
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception as error:
        return " ".join(str(error).split())[:300]
    return None


def kept_parts(model: onnx.ModelProto) -> list[bytes]:
    """What must be the same in the optimized model."""
    messages = [*model.graph.input, *model.graph.output, *model.metadata_props, *model.functions, *model.opset_import]
    return [m.SerializeToString(deterministic=True) for m in messages] + [
        str(text).encode() for text in (model.doc_string, model.producer_name, model.model_version, model.domain, model.graph.name,
                                        model.graph.doc_string, model.ir_version)]


class Judge:
    def __init__(self, aton: str, folder: Path, peers: bool):
        self.aton = aton
        self.folder = folder
        self.wrong: list[str] = []
        self.counts: collections.Counter = collections.Counter()
        self.unchanged: collections.Counter = collections.Counter()
        self.peers = peers
        self.more: list[str] = []  # models with more nodes than a peer leaves

    def optimize(self, source: Path, target: Path) -> str:
        done = subprocess.run([self.aton, "optimize", str(source), "-o", str(target)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()[:300]}")
        return done.stdout

    def judge(self, case: Case) -> None:
        self.counts["models"] += 1
        source = case.path or self.folder / "before.onnx"
        if case.path is None:
            source.write_bytes(case.model.SerializeToString())
        target, again = self.folder / "after.onnx", self.folder / "again.onnx"
        fault = is_valid(source)
        try:
            said = self.optimize(source, target)
        except RuntimeError as error:
            if fault is None:
                self.wrong.append(f"{case.name}: {error}")
            else:
                self.counts["refused, and not valid"] += 1
            return
        if ": unchanged: " in said:
            self.unchanged[said.split(": unchanged: ")[1].strip()[:80]] += 1
        for what in self.faults(case, source, target, again, fault):
            self.wrong.append(f"{case.name}: {what}")
        if self.peers:
            self.count_nodes(case, source, target)

    def faults(self, case: Case, source: Path, target: Path, again: Path, fault: str | None) -> Iterator[str]:
        after = onnx.load(target, load_external_data=False)
        if fault is None and (invalid := is_valid(target)):
            yield f"is not valid any more: {invalid}"
        if kept_parts(case.model) != kept_parts(after):
            yield "inputs, outputs, functions or metadata have changed"
        before_nodes, after_nodes = all_nodes(case.model.graph), all_nodes(after.graph)
        self.counts["nodes before"] += before_nodes
        self.counts["nodes after"] += after_nodes
        if after_nodes > before_nodes:
            yield f"{before_nodes} nodes became {after_nodes}"
        self.optimize(target, again)
        if again.read_bytes() != target.read_bytes():
            yield "another run changes it again"
        yield from self.compare(case, source, target)

    def compare(self, case: Case, source: Path, target: Path) -> Iterator[str]:
        if is_random(case.model.graph):
            self.counts["random"] += 1
            return
        tries = [draw_inputs(case.model, size) for size in SIZES] if case.feeds is None else [case.feeds]
        if tries[0] is None:
            self.counts["without inputs that can be drawn"] += 1
            return
        for feeds in tries:
            try:
                expected = run(source, feeds)
                break
            except Exception:  # an operator without a kernel, or inputs that do not fit: nothing to compare with
                continue
        else:
            self.counts["not run"] += 1
            return
        try:
            results = run(target, feeds)
        except Exception as error:
            yield f"does not run any more: {' '.join(str(error).split())[:300]}"
            return
        self.counts["compared"] += 1
        for i, (a, b) in enumerate(zip(expected, results, strict=True)):
            if what := difference(a, b):
                yield f"output {i}: {what}"

    def count_nodes(self, case: Case, source: Path, target: Path) -> None:
        ours = all_nodes(onnx.load(target, load_external_data=False).graph)
        peer = self.folder / "peer.onnx"
        best = None
        for tool in ("onnxsim", "onnxslim"):
            peer.unlink(missing_ok=True)
            done = subprocess.run([sys.executable, "-m", tool, str(source), str(peer)], capture_output=True, check=False)
            if done.returncode == 0 and peer.exists():
                count = all_nodes(onnx.load(peer, load_external_data=False).graph)
                best = count if best is None else min(best, count)
        if best is None:
            self.counts["no peer"] += 1
            return
        self.counts["beside peers"] += 1
        self.counts["at most the nodes of the peers"] += ours <= best
        if ours > best:
            self.more.append(f"{case.name}: {ours} nodes, a peer leaves {best}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--aton", required=True)
    parser.add_argument("--only", default="", help="only the models with this in their name")
    parser.add_argument("--every", type=int, default=1, help="only every Nth model")
    parser.add_argument("--models", type=Path, action="append", default=[], help="a folder with more .onnx files")
    parser.add_argument("--no-tests", action="store_true", help="without the models of ONNX's tests")
    parser.add_argument("--peers", action="store_true")
    args = parser.parse_args()
    sources = [] if args.no_tests else [node_cases(), file_cases(Path(onnx.__file__).parent / "backend/test/data")]
    sources += [file_cases(folder) for folder in args.models]
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(args.aton, Path(folder), args.peers)
        number = 0
        for source in sources:
            for case in source:
                number += 1
                if args.only in case.name and number % args.every == 0:
                    judge.judge(case)
    for line in judge.wrong + judge.more:
        print(line)
    print(", ".join(f"{count} {what}" for what, count in judge.counts.items()) + f", {len(judge.wrong)} faults")
    for reason, count in judge.unchanged.most_common():
        print(f"  {count} unchanged: {reason}")
    enough = args.only != "" or judge.counts["compared"] * 2 > judge.counts["models"]
    return 0 if not judge.wrong and judge.counts["models"] != 0 and enough else 1


if __name__ == "__main__":
    sys.exit(main())
