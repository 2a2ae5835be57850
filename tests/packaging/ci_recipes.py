# SPDX-License-Identifier: MIT
"""The recipes for the CI of users, action.yml and .pre-commit-hooks.yaml: lints them, and runs the steps and the hooks as GitHub's runner and
pre-commit do.

usage: ci_recipes.py ATON COMPILER

What yamllint, check-jsonschema, pre-commit (tests/requirements.txt) and shellcheck check is left out, with a line that says so, where
they are not installed. The step that builds Aton is not run.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "tests" / "data"
LINEAR, CUSTOM = DATA / "pt2" / "linear_relu_dynbatch.pt2", DATA / "plugin" / "custom_op.pt2"
TABLE = REPOSITORY / "tests" / "plugin" / "custom_plugin.cpp"
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
SKIPPED = 77


def demand(condition, sentence):
    if not condition:
        sys.exit(sentence)


def run(*command, fails=False, **options):
    """What the command prints, to stdout or stderr; it must succeed, or fail if `fails` is set."""
    result = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    demand((result.returncode != 0) == fails, f"{command}\n{result.stdout}\nexit status {result.returncode}")
    return result.stdout


def tool(name):
    """The program beside this Python, or on PATH; None, with a line that says so, if it is not installed."""
    beside = pathlib.Path(sys.executable).parent / name
    path = str(beside) if beside.exists() else shutil.which(name)
    if path is None:
        print(f"{name} is not installed: what it checks is left out")
    return path


class Runner:
    """Runs the steps of action.yml with inputs, in a workspace of its own."""

    def __init__(self, action, folder):
        self.action, self.folder = action, folder
        self.workspace, self.temporary = folder / "workspace", folder / "temporary"
        for each in (self.workspace, self.temporary):
            each.mkdir(parents=True)
        self.summary = folder / "summary"
        self.outputs, self.log, self.failed, self.ran = {}, "", None, []

    def value(self, expression, inputs):
        """The value of an expression such as inputs.opset or steps.table.outputs.plugin."""
        parts = expression.split(".")
        if parts[0] == "inputs" and len(parts) == 2:
            return inputs[parts[1]]
        demand(parts[0] == "steps" and len(parts) == 4, f"action.yml: the test does not know the expression {expression}")
        demand(any(step["id"] == parts[1] for step in self.action["runs"]["steps"]), f"action.yml: there is no step {parts[1]}")
        return self.outputs.get((parts[1], parts[3]), "")

    def holds(self, condition, inputs):
        """Whether a condition such as `inputs.models != '' && inputs.export == 'true'` holds."""
        for part in condition.split(" && "):
            name, relation, text = re.fullmatch(r"(\S+) (==|!=) '(.*)'", part).groups()
            if (self.value(name, inputs) == text) != (relation == "=="):
                return False
        return True

    def run(self, fails=None, **given):
        """Runs the steps; `fails` names the one that must fail. Returns the log."""
        defaults = {name: facts.get("default", "") for name, facts in self.action["inputs"].items()}
        demand(set(given) <= set(defaults), f"action.yml: unknown inputs among {given}")
        inputs = defaults | {name: str(value) for name, value in given.items()}
        path = os.environ["PATH"]
        for step in self.action["runs"]["steps"]:
            if "if" in step and not self.holds(step["if"], inputs):
                continue
            self.ran.append(step["id"])
            output, added, script = (self.folder / f"{step['id']}.{kind}" for kind in ("output", "path", "sh"))
            script.write_text(step["run"])
            environment = os.environ | {
                "PATH": path, "GITHUB_ACTION_PATH": str(REPOSITORY), "RUNNER_TEMP": str(self.temporary), "GITHUB_OUTPUT": str(output),
                "GITHUB_PATH": str(added), "GITHUB_STEP_SUMMARY": str(self.summary)}
            for name, text in step["env"].items():
                environment[name] = EXPRESSION.sub(lambda match: self.value(match[1], inputs), text)
            result = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.workspace, env=environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.log += result.stdout
            if result.returncode != 0:
                self.failed = step["id"]
                break
            if output.exists():
                for line in output.read_text().splitlines():
                    key, _, text = line.partition("=")
                    self.outputs[step["id"], key] = text
            if added.exists():
                path = f"{added.read_text().strip()}:{path}"
        demand(self.failed == fails, f"inputs {given}: the step {self.failed} failed, not {fails}:\n{self.log}")
        return self.log


def check_action(action, folder):
    """What the schema of actions does not say: expressions occur in env only, and inputs, uses and outputs agree."""
    text = (REPOSITORY / "action.yml").read_text()
    used = set(re.findall(r"\binputs\.(\w+)", text))
    demand(used == set(action["inputs"]), f"action.yml: these inputs are unused or undeclared: {used ^ set(action['inputs'])}")
    shellcheck = tool("shellcheck")
    for step in action["runs"]["steps"]:
        demand(not EXPRESSION.search(step["run"]), f"action.yml: the step {step['id']} has an expression in its script")
        script = folder / f"{step['id']}.sh"
        script.write_text("#!/usr/bin/env bash\nset -eo pipefail\n" + step["run"])
        run("bash", "-n", script)
        if shellcheck:
            run(shellcheck, "--exclude=SC1091,SC2153", script)  # tools/setup.sh is not followed, nor is the environment known
    for facts in action["outputs"].values():
        step, output = re.fullmatch(r"steps\.(\w+)\.outputs\.(\w+)", EXPRESSION.fullmatch(facts["value"])[1]).groups()
        script = next(each["run"] for each in action["runs"]["steps"] if each["id"] == step)
        demand(f'echo "{output}=' in script, f"action.yml: no step writes {step}.outputs.{output}")


def check_documented(action, hooks, yaml):
    """The YAML of docs/install.md names inputs and hooks that exist."""
    page = (REPOSITORY / "docs" / "install.md").read_text()
    blocks = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)]
    steps = [step for block in blocks if "jobs" in block for job in block["jobs"].values() for step in job["steps"]]
    uses = [step for step in steps if "/aton@" in step.get("uses", "")]
    named = {each["id"] for block in blocks if "repos" in block for repository in block["repos"] for each in repository["hooks"]}
    demand(uses and named, "docs/install.md shows no workflow or no hooks")
    for step in uses:
        demand(set(step["with"]) <= set(action["inputs"]), f"docs/install.md: unknown inputs among {sorted(step['with'])}")
    demand(named == {each["id"] for each in hooks}, f"docs/install.md has other hooks than .pre-commit-hooks.yaml: {named}")
    return blocks


def lint(blocks, folder, yaml):
    """The official schemas, and yamllint."""
    files = [REPOSITORY / "action.yml", REPOSITORY / ".pre-commit-hooks.yaml"]
    if yamllint := tool("yamllint"):
        run(yamllint, "-s", "-d", "{extends: default, rules: {line-length: {max: 160}, document-start: disable}}", *files)
    if jsonschema := tool("check-jsonschema"):
        run(jsonschema, "--builtin-schema", "vendor.github-actions", files[0])
        workflow = folder / "workflow.yml"
        # YAML 1.1 reads the key `on` as true.
        workflow.write_text(yaml.safe_dump({"on" if key is True else key: each for key, each in next(b for b in blocks if "jobs" in b).items()}))
        run(jsonschema, "--builtin-schema", "vendor.github-workflows", workflow)
        wrong = folder / "action.yml"
        wrong.write_text(files[0].read_text().replace("using: composite", "using: compositon"))
        run(jsonschema, "--builtin-schema", "vendor.github-actions", wrong, fails=True)
    if precommit := tool("pre-commit"):
        run(precommit, "validate-manifest", files[1])
        config = folder / "config.yaml"
        config.write_text(yaml.safe_dump(next(b for b in blocks if "repos" in b)))
        run(precommit, "validate-config", config)


def run_action(action, folder, aton, compiler):
    """The steps, with every input once, and with inputs that must fail or that a shell would execute."""
    count = 0

    def runner():
        nonlocal count
        count += 1
        return Runner(action, folder / f"run{count}")

    alone = runner()
    alone.run(command=aton)
    demand(alone.ran == ["command"], f"without models and table, the steps {alone.ran} ran")

    plain = runner()
    (plain.workspace / "models").mkdir()
    shutil.copy(LINEAR, plain.workspace / "models")
    hostile = "it's $(touch executed) `touch executed`; a.pt2"
    shutil.copy(DATA / "pt2" / "lstm.pt2", plain.workspace / hostile)
    plain.run(command=aton, models=f"models\n\n{hostile}\n", opset="17", options="--rename=x=left\n--no-optimize")
    written = sorted(each.name for each in (plain.workspace / "onnx").iterdir())
    demand(written == [hostile.replace(".pt2", ".onnx"), "linear_relu_dynbatch.onnx"], f"onnx/ has {written}")
    demand("%left :" in run(aton, "print", plain.workspace / "onnx" / written[1]), "the options were lost")
    demand(not list(folder.rglob("executed")), "an input was executed")
    demand("can be converted at opset 17" in plain.summary.read_text(), plain.summary.read_text())

    refused = runner()
    refused.run(fails="unconvertible", command=aton, models=CUSTOM)
    demand("custom_ops::foo_forward" in refused.summary.read_text() and "::error::" in refused.log, refused.log)
    demand(not any(refused.workspace.iterdir()), "a model was written")

    custom = runner()
    custom.run(command=aton, models=CUSTOM, table=TABLE, compiler=compiler, flags="-DUNUSED=1", output="out")
    demand("custom_ops::foo_forward" in custom.log and pathlib.Path(custom.outputs["table", "plugin"]).exists(), custom.log)
    demand((custom.workspace / "out" / "custom_op.onnx").exists(), custom.log)

    listed = runner()
    listed.run(command=aton, models=LINEAR, export="false")
    demand(listed.ran == ["command", "unconvertible"] and not any(listed.workspace.iterdir()), f"the steps {listed.ran} ran")

    (folder / "wrong.cpp").write_text('#include <aton/aton.hpp>\n#include <aton/plugin.hpp>\nusing namespace aton::dsl;\n'
                                      'inline constexpr auto rows = table(symbolic<"aten::relu(self, extra)">('
                                      '[](graph<13>, value self, value) { return self; }));\nATON_PLUGIN(rows)\n')
    wrong = runner()
    wrong.run(fails="table", command=aton, table=folder / "wrong.cpp", compiler=compiler)
    demand("aten::relu: no argument extra" in wrong.log, wrong.log)
    runner().run(fails="command", command="no-such-aton")
    runner().run(fails="unconvertible", command=aton, models="missing.pt2")
    runner().run(fails="export", command=aton, models=LINEAR, options="--opset=99")

    # A wheel, whose name says that it is for this system.
    run(sys.executable, REPOSITORY / "tools" / "make_wheel.py", "--aton", aton, "--dist", folder / "dist")
    installed = runner()
    installed.run(wheel=next((folder / "dist").iterdir()), models=LINEAR)
    demand(str(installed.temporary) in installed.outputs["command", "command"], "the wheel's command is not the one that runs")


def run_hooks(hooks, folder, aton, compiler):
    """The entries of the manifest, called as pre-commit does, and pre-commit itself if it is installed."""
    environment = os.environ | {"ATON_COMMAND": aton, "CXX": compiler, "PRE_COMMIT_HOME": str(folder / "home"), "GIT_CONFIG_GLOBAL": os.devnull}
    entries = {each["id"]: [REPOSITORY / each["entry"].split()[0], *each["entry"].split()[1:]] for each in hooks}
    for file in ("linear.pt2", "two words.pt2"):
        shutil.copy(LINEAR, folder / file)
    shutil.copy(CUSTOM, folder / "custom.pt2")
    (folder / "broken.pt2").write_bytes(LINEAR.read_bytes()[:1000])
    (folder / "good.hpp").write_text("#pragma once\n#include <aton/aton.hpp>\ninline constexpr auto rows = aton::dsl::table();\n")
    (folder / "bad.hpp").write_text("#pragma once\n#include <aton/aton.hpp>\ninline constexpr int rows = aton::dsl::no_table();\n")
    (folder / "other.cpp").write_text("not C++, and without Aton\n")
    cases = [
        ("aton-unconvertible", ["linear.pt2", "two words.pt2"], None), ("aton-unconvertible", ["linear.pt2", "custom.pt2"], "make_tiny.py:44"),
        ("aton-unconvertible", ["broken.pt2", "linear.pt2"], "broken.pt2"), ("aton-unconvertible", ["--opset=5", "linear.pt2"], "opset"),
        ("aton-export", ["--opset=17", "linear.pt2", "two words.pt2"], None), ("aton-export", ["custom.pt2", "linear.pt2"], "custom.pt2"),
        ("aton-export", ["--opset", "17", "linear.pt2"], "17: no such file"), ("aton-export", ["broken.pt2"], "broken.pt2"),
        ("aton-table", ["good.hpp", "other.cpp"], None), ("aton-table", ["-Werror", "good.hpp"], None), ("aton-table", ["good.hpp", "bad.hpp"], "no_table")]
    before = sorted(folder.iterdir())
    for name, words, sentence in cases:
        printed = run(*entries[name], *words, fails=sentence is not None, cwd=folder, env=environment)
        demand((sentence or "") in printed and (sentence or not printed), f"{name} {words}: '{sentence}' is missing from:\n{printed}")
    demand(sorted(folder.iterdir()) == before, "a hook left a file")
    missing = run(*entries["aton-export"], "linear.pt2", fails=True, cwd=folder, env=environment | {"ATON_COMMAND": "no-such-aton"})
    demand("no-such-aton: not found" in missing, missing)

    precommit = tool("pre-commit")
    if not precommit or not shutil.which("git"):
        return
    # A repository with the hooks alone, and one that uses them.
    theirs, ours = folder / "hooks", folder / "user"
    for name in (".pre-commit-hooks.yaml", "packaging/pre-commit", "single_include"):
        copy = shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy
        (theirs / name).parent.mkdir(parents=True, exist_ok=True)
        copy(REPOSITORY / name, theirs / name)
    ours.mkdir()
    for name in ("two words.pt2", "good.hpp", "other.cpp"):
        shutil.copy(folder / name, ours)
    for repository in (theirs, ours):
        run("git", "init", "-q", cwd=repository)
        run("git", "add", ".", cwd=repository)
    run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "hooks", cwd=theirs)
    attempt = [precommit, "try-repo", theirs, "--all-files"]
    printed = run(*attempt, cwd=ours, env=environment)
    demand(printed.count("Passed") == len(hooks), printed)
    for name in ("custom.pt2", "bad.hpp"):
        shutil.copy(folder / name, ours)
    run("git", "add", ".", cwd=ours)
    printed = run(*attempt, cwd=ours, env=environment, fails=True)
    demand(printed.count("Failed") == len(hooks) and "no mapping; at make_tiny.py:44" in printed, printed)


def main(aton, compiler):
    try:
        import yaml
    except ImportError:
        print("skipped: PyYAML is missing (tests/requirements.txt lists what needs it)")
        return SKIPPED
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text())
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    with tempfile.TemporaryDirectory(prefix="aton-ci-") as name:
        folder = pathlib.Path(name)
        check_action(action, folder)
        lint(check_documented(action, hooks, yaml), folder, yaml)
        (folder / "hooks").mkdir()
        run_hooks(hooks, folder / "hooks", aton, compiler)
        run_action(action, folder, aton, compiler)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
