# SPDX-License-Identifier: MIT
"""The conda recipe: that it agrees with the project, and with --build, a build of its package.

usage: conda.py [--build FOLDER]

--build renders and builds the recipe with rattler-build (`pip install py-rattler-build`), whose dependencies are stand-ins here: empty packages
with the names and versions that the recipe asks for, while compilers and libraries are those of the machine. The build takes minutes; FOLDER is
emptied first. Whether conda-forge's own packages suffice is not tested.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys

from consume import REPOSITORY, SKIPPED, demand, version

RECIPE = REPOSITORY / "packaging" / "conda" / "recipe.yaml"
PLATFORM = "linux-64"


def check_recipe(recipe):
    """What the recipe repeats of the project is the same there."""
    context = recipe["context"]
    demand(context["version"] == version(), f"recipe.yaml: the version is {context['version']}, not {version()}")
    pinned = re.search(r"^onnx==(\S+)$", (REPOSITORY / "tools" / "requirements.txt").read_text(), re.MULTILINE)[1]
    demand(context["onnx"] == pinned, f"recipe.yaml: ONNX is {context['onnx']}, but tools/requirements.txt pins {pinned}")
    options = re.findall(r"^option\((ATON_\w+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.MULTILINE)
    passed = re.findall(r"-D(ATON_\w+)=", " ".join(recipe["build"]["script"]))
    demand(passed and set(passed) <= {*options, "ATON_ONNX_SOURCE_DIR"}, f"recipe.yaml: options that CMakeLists.txt does not have: {passed}")
    demand(recipe["source"][0] == {"path": "../.."}, f"recipe.yaml: the first source is {recipe['source'][0]}")


def rendered(rattler_build):
    """The recipe with its variables, for this platform."""
    variants = rattler_build.VariantConfig({"cxx_compiler": ["gxx"], "c_stdlib": ["sysroot"]})
    config = rattler_build.RenderConfig(platform=rattler_build.PlatformConfig(target_platform=PLATFORM))
    parsed = rattler_build.Stage0Recipe.from_file(RECIPE)
    results = parsed.render(variants, config)
    demand(len(results) == 1, f"recipe.yaml: {len(results)} variants")
    return parsed, variants, config, results[0].recipe.to_dict()


def stand_in_channel(rattler_build, requirements, folder):
    """A channel with an empty package for each requirement such as `cmake >=3.25`."""
    packages = {}
    subfolder = folder / PLATFORM
    subfolder.mkdir(parents=True)
    for name, _, bound in sorted({requirement.partition(" ") for each in requirements.values() for requirement in each}):
        number = re.fullmatch(r"(?:>=)?([\d.]*)", bound)
        demand(number, f"recipe.yaml: the test does not know the version {bound} of {name}")
        path = pathlib.Path(rattler_build.assemble_package(name, number[1] or "1", PLATFORM, "0", subfolder).path)
        packages[path.name] = {"name": name, "version": number[1] or "1", "build": "0", "build_number": 0, "depends": [], "subdir": PLATFORM,
                               "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size": path.stat().st_size}
    for subdir, found in ((PLATFORM, packages), ("noarch", {})):
        (folder / subdir).mkdir(exist_ok=True)
        (folder / subdir / "repodata.json").write_text(json.dumps({"info": {"subdir": subdir}, "packages": {}, "packages.conda": found}))
    return folder.as_uri()


def build(work):
    """Builds the package, with the tests of the recipe, and exports with the command that it contains."""
    try:
        import rattler_build
    except ImportError:
        print("skipped: py-rattler-build is missing (pip install py-rattler-build)")
        return SKIPPED
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    parsed, variants, config, recipe = rendered(rattler_build)
    channel = stand_in_channel(rattler_build, recipe["requirements"], work / "channel")
    os.environ["RATTLER_CACHE_DIR"] = str(work / "cache")
    tools = rattler_build.ToolConfiguration(test_strategy="native", keep_build=True)
    results = parsed.run_build(variants, tools, output_dir=work / "output", channels=[channel], render_config=config,
                               env_isolation=rattler_build.EnvironmentIsolation.NONE)
    demand(len(results) == 1 and len(results[0].packages) == 1, f"rattler-build made {results}")
    package = pathlib.Path(results[0].packages[0])
    print(f"{package.name}: {package.stat().st_size / 1e6:.1f} MB")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve())
    options = parser.parse_args()
    try:
        import yaml
    except ImportError:
        print("skipped: PyYAML is missing (tests/requirements.txt lists what needs it)")
        return SKIPPED
    check_recipe(yaml.safe_load(RECIPE.read_text()))
    return build(options.build) if options.build else 0


if __name__ == "__main__":
    sys.exit(main())
