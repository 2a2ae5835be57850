# SPDX-License-Identifier: MIT
"""What a contributor meets first: lints the workflow, forms and configurations of this repository, compares its versions, and checks the form of
its decision records. Each check is also run on a copy in which something is wrong.

usage: repository_door.py

What yamllint, check-jsonschema, pre-commit (tests/requirements.txt) and shellcheck check is left out, with a line that says so, where
they are not installed.
"""

import configparser
import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import ci_recipes
from ci_recipes import EXPRESSION, SKIPPED

try:
    import yaml
except ImportError:
    print("skipped: the Python package pyyaml is not installed")
    sys.exit(SKIPPED)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
tool = functools.cache(ci_recipes.tool)  # which says once what is not installed
SECTIONS = ("Context", "Decision", "Consequences")
CHANGELOG, CONTRIBUTING = 80, 100  # lines
SCHEMAS = {"workflows": "vendor.github-workflows", "ISSUE_TEMPLATE": "vendor.github-issue-forms"}


def failure(*command, given=None, cwd=None):
    """What a command that fails prints, in one line; '' if it succeeds."""
    done = subprocess.run([str(each) for each in command], input=given, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return " ".join(done.stdout.split()) if done.returncode else ""


def yaml_files(root):
    return [root / ".pre-commit-config.yaml", root / ".clangd", root / "mkdocs.yml", *sorted((root / ".github").rglob("*.yml"))]


@functools.cache
def problems_of_yaml(path, text):
    """What a parser, yamllint and the schemas of GitHub say about the file, whose text is `text`."""
    try:
        list(yaml.compose_all(text))
    except yaml.YAMLError as e:
        return [" ".join(str(e).split())]
    found = []
    if path.name != "mkdocs.yml" and (lint := tool("yamllint")):
        rules = "{extends: default, rules: {line-length: {max: 160}, document-start: disable, truthy: {check-keys: false}, braces: disable}}"
        found.append(failure(lint, "-s", "-d", rules, path))
    kind = "vendor.github-issue-config" if path.name == "config.yml" else SCHEMAS.get(path.parent.name)
    if kind and (schema := tool("check-jsonschema")):
        found.append(failure(schema, "--builtin-schema", kind, path))
    return [said for said in found if said]


def check_yaml(root):
    """Every YAML file parses; those of GitHub fit its schemas."""
    for path in yaml_files(root):
        for problem in problems_of_yaml(path, path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}: {problem}"


def check_workflows(root):
    """Scripts are right and take no text of strangers, actions have versions, jobs end, and one of them runs .ci/run."""
    shellcheck, scripts = tool("shellcheck"), []
    for path in sorted((root / ".github" / "workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        if "permissions" not in workflow:
            yield f"{path.name}: no permissions: the token may write"
        for name, job in workflow["jobs"].items():
            if "timeout-minutes" not in job:
                yield f"{path.name}: the job {name} has no timeout"
            for step in job["steps"]:
                if "uses" in step and not re.fullmatch(r"[\w.-]+/[\w./-]+@(v\d+(\.\d+)*|[0-9a-f]{40})", step["uses"]):
                    yield f"{path.name}: {step['uses']} has no version"
                if "run" not in step:
                    continue
                scripts.append(step["run"])
                if EXPRESSION.search(step["run"]):
                    yield f"{path.name}: an expression in a script: {step['run'].split()[0]} ...; pass it as an environment variable"
                if said := failure("bash", "-n", given=step["run"]):
                    yield f"{path.name}: {said}"
                elif shellcheck and (said := failure(shellcheck, "--shell=bash", "-", given=step["run"])):
                    yield f"{path.name}: {said}"
    if not any(".ci/run" in script for script in scripts):
        yield "no workflow runs .ci/run"


def check_owners(root):
    """Every line of CODEOWNERS is about a path that exists."""
    lines = [line.split("#")[0].split() for line in (root / ".github" / "CODEOWNERS").read_text(encoding="utf-8").splitlines()]
    for pattern, *owners in filter(None, lines):
        if pattern != "*" and not (REPOSITORY / pattern.strip("/")).exists() and not (root / pattern.strip("/")).exists():
            yield f"CODEOWNERS: no such path: {pattern}"
        if not owners or not all(re.fullmatch(r"@[\w-]+(/[\w-]+)?|\S+@\S+", owner) for owner in owners):
            yield f"CODEOWNERS: no owner of {pattern}"


def check_hooks(root):
    """The hooks of this repository run scripts that exist, and the message of each commit is checked."""
    path = root / ".pre-commit-config.yaml"
    hooks = [hook for repository in yaml.safe_load(path.read_text(encoding="utf-8"))["repos"] for hook in repository["hooks"]]
    for hook in hooks:
        for word in hook["entry"].split():
            if "/" in word and not (REPOSITORY / word).is_file():
                yield f"{path.name}: no such file: {word}"
    if not any("tools/check_commits --message" in hook["entry"] and hook.get("stages") == ["commit-msg"] for hook in hooks):
        yield f"{path.name}: no hook checks the message"
    program = tool("pre-commit")
    if program and (said := failure(program, "validate-config", path)):
        yield f"{path.name}: {said}"


def check_editors(root):
    """.editorconfig parses, and the folders and images that the configurations name exist."""
    try:
        text = "[top]\n" + (root / ".editorconfig").read_text(encoding="utf-8")
        configparser.ConfigParser(delimiters=("=",)).read_string(text)
    except configparser.Error as e:
        yield f".editorconfig: {' '.join(str(e).split())}"
    presets = {each["name"] for each in json.loads((REPOSITORY / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
    folder = next(yaml.safe_load_all((root / ".clangd").read_text(encoding="utf-8")))["CompileFlags"]["CompilationDatabase"]
    if folder.removeprefix("build/") not in presets:
        yield f".clangd: no preset builds in {folder}"
    build = json.loads((root / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))["build"]
    recipe = REPOSITORY / ".devcontainer" / build["dockerfile"]
    if not recipe.is_file() or not re.search(rf"^FROM \S+ AS {build['target']}$", recipe.read_text(encoding="utf-8"), re.MULTILINE):
        yield f"devcontainer.json: no target {build['target']} in {build['dockerfile']}"


def check_decisions(root):
    """Records are numbered, have the three sections, and are listed under their titles."""
    folder = root / "docs" / "decisions"
    listed = dict(re.findall(r"^\| \[\d+\]\((\S+)\) \| (.+) \|$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    records = sorted(folder.glob("[0-9]*.md"))
    for number, path in enumerate(records, 1):
        text = path.read_text(encoding="utf-8")
        title = re.match(rf"# {number}\. (.+)\n", text)
        if not title or not path.name.startswith(f"{number:04d}-"):
            yield f"{path.name}: it is not number {number}"
        elif listed.get(path.name) != title[1]:
            yield f"{path.name}: README.md lists it as '{listed.get(path.name)}', not '{title[1]}'"
        parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
        if tuple(parts[1::2]) != SECTIONS or not all(part.strip() for part in parts[2::2]):
            yield f"{path.name}: it has not the sections {', '.join(SECTIONS)}"
    if len(records) < 10 or set(listed) - {path.name for path in records}:
        yield f"docs/decisions has {len(records)} records, README.md lists {len(listed)}"


def check_pages(root):
    """The first page of a contributor is one page, and a release has a changelog that one reads."""
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    for section in changes[1:]:
        if section.count("\n") > CHANGELOG:
            yield f"CHANGELOG.md: {section.splitlines()[0]} has {section.count(chr(10))} lines, more than {CHANGELOG}"
    count = (root / "CONTRIBUTING.md").read_text(encoding="utf-8").count("\n")
    if count > CONTRIBUTING:
        yield f"CONTRIBUTING.md has {count} lines, more than {CONTRIBUTING}: development.md has the details"


def check_versions(root):
    """One version, wherever it is written."""
    text = (root / "include" / "aton" / "version.hpp").read_text(encoding="utf-8")
    parts = re.findall(r"#define ATON_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    version = ".".join(parts)
    if f"aton::inline v{'_'.join(parts[:2])}\n" not in text:
        yield f"version.hpp: the namespace is not that of {version}"
    for name, pattern in {"CMakeLists.txt": r"^project\(aton VERSION ([0-9.]+)", "packaging/conda/recipe.yaml": r"^  version: ([0-9.]+)$",
                          "packaging/vcpkg/ports/aton/vcpkg.json": r'"version": "([0-9.]+)"', "CHANGELOG.md": r"^## \[([0-9.]+)\]"}.items():
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        if not found or found[1] != version:
            yield f"{name}: the version is {found and found[1]}, not {version}"


CHECKS = (check_yaml, check_workflows, check_owners, check_hooks, check_editors, check_decisions, check_pages, check_versions)
# File, what is replaced, by what, and what the check says. The last column names the program without which the mistake is not found.
MISTAKES = (
    (check_yaml, ".github/workflows/ci.yml", "jobs:", "jobs: [", "ci.yml: while parsing", None),
    (check_yaml, ".github/workflows/ci.yml", "runs-on:", "run-on:", "ci.yml: Schema validation errors", "check-jsonschema"),
    (check_yaml, ".github/ISSUE_TEMPLATE/wrong.yml", "type: textarea", "type: textfield", "wrong.yml: Schema validation errors", "check-jsonschema"),
    (check_yaml, ".github/ISSUE_TEMPLATE/config.yml", "    url:", "    uri:", "config.yml: Schema validation errors", "check-jsonschema"),
    (check_yaml, ".pre-commit-config.yaml", "      - id: format", "      - id:   format", ".pre-commit-config.yaml:", "yamllint"),
    (check_workflows, ".github/workflows/ci.yml", "permissions:\n  contents: read\n", "", "the token may write", None),
    (check_workflows, ".github/workflows/ci.yml", "    timeout-minutes: 120\n", "", "the job test has no timeout", None),
    (check_workflows, ".github/workflows/ci.yml", "actions/cache@v4", "actions/cache@main", "actions/cache@main has no version", None),
    (check_workflows, ".github/workflows/ci.yml", "$GITHUB_WORKSPACE", "${{ github.head_ref }}", "an expression in a script: git", None),
    (check_workflows, ".github/workflows/ci.yml", "bash .ci/run", "if true", "syntax error", None),
    (check_workflows, ".github/workflows/ci.yml", "bash .ci/run", "bash tools/test.sh", "no workflow runs .ci/run", None),
    (check_workflows, ".github/workflows/ci.yml", '"$GITHUB_WORKSPACE"', "$GITHUB_WORKSPACE", "SC2086", "shellcheck"),
    (check_owners, ".github/CODEOWNERS", "/src/runtime/", "/src/kernels/", "no such path: /src/kernels/", None),
    (check_owners, ".github/CODEOWNERS", "@your-organization/aton-readers", "", "no owner of /src/frontend/", None),
    (check_hooks, ".pre-commit-config.yaml", "check_links.py", "check_link.py", "no such file: tests/docs/check_link.py", None),
    (check_hooks, ".pre-commit-config.yaml", "stages: [commit-msg]", "stages: [pre-commit]", "no hook checks the message", None),
    (check_hooks, ".pre-commit-config.yaml", "language: system", "language: shell", ".pre-commit-config.yaml:", "pre-commit"),
    (check_editors, ".editorconfig", "root = true", "root", ".editorconfig: ", None),
    (check_editors, ".clangd", "build/release", "build/debug", "no preset builds in build/debug", None),
    (check_editors, ".devcontainer/devcontainer.json", "development", "developer", "no target developer", None),
    (check_decisions, "docs/decisions/0004-boost-hana.md", "# 4. ", "# 5. ", "it is not number 4", None),
    (check_decisions, "docs/decisions/0004-boost-hana.md", "## Consequences", "## Costs", "it has not the sections", None),
    (check_decisions, "docs/decisions/README.md", "Boost.Hana holds", "Hana holds", "README.md lists it as 'Hana holds", None),
    (check_pages, "CHANGELOG.md", "\n### Checking\n", "\n" * 80, "lines, more than 80", None),
    (check_pages, "CONTRIBUTING.md", "\n## Build\n", "\n" * 80, "lines, more than 100", None),
    (check_versions, "CMakeLists.txt", "VERSION 0.2.0", "VERSION 0.2.1", "CMakeLists.txt: the version is 0.2.1, not 0.2.0", None),
    (check_versions, "include/aton/version.hpp", "v0_2", "v0_1", "the namespace is not that of 0.2.0", None),
    (check_versions, "packaging/conda/recipe.yaml", "version: 0.2.0", "version: 0.1.0", "recipe.yaml: the version is 0.1.0", None),
)


def unnoticed_mistakes():
    """The mistakes that no check reports, planted one after the other into a copy."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        names = {each[1] for each in MISTAKES} | {path.relative_to(REPOSITORY).as_posix() for path in yaml_files(REPOSITORY)}
        names |= {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "docs" / "decisions").glob("*.md")}
        for name in sorted(names | {"packaging/vcpkg/ports/aton/vcpkg.json"}):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, root / name)
        for check, name, old, new, sentence, program in MISTAKES:
            if program and not tool(program):
                continue
            path, text = root / name, (root / name).read_text(encoding="utf-8")
            if old not in text:
                yield f"{name} has no '{old}' to replace"
            path.write_text(text.replace(old, new), encoding="utf-8")
            found = list(check(root))
            if not any(sentence in problem for problem in found):
                yield f"{name}: '{new}' is not reported: {found}"
            path.write_text(text, encoding="utf-8")


def main():
    found = [problem for check in CHECKS for problem in check(REPOSITORY)] + list(unnoticed_mistakes())
    print("\n".join(found), end="\n" if found else "")
    print(f"{len(CHECKS)} checks, {len(MISTAKES)} planted mistakes, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
