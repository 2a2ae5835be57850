# SPDX-License-Identifier: MIT
"""Builds the images of packaging/container/Containerfile with buildah, exports a model in the one and builds a plugin in the other.

usage: container.py --aton PROGRAM [--base IMAGE] [OPTION OF buildah build]...

PROGRAM is the command of this checkout, whose files the image's must equal. --base is the image of Debian, by default that of the Containerfile.
Compiling takes minutes. Skipped where buildah is missing.
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

from consume import HERE, REPOSITORY, SAMPLE, SKIPPED, demand, run, version

CONTAINERFILE = REPOSITORY / "packaging" / "container" / "Containerfile"


class Image:
    """An image built for one target of the Containerfile, and a container of it that shares a folder."""

    def __init__(self, target, shared, options):
        self.name, self.shared = f"localhost/aton-test-{target}", shared
        run("buildah", "build", "--layers", "--file", CONTAINERFILE, "--target", target, "--tag", self.name, *options, REPOSITORY)
        self.container = run("buildah", "from", "--pull-never", self.name).split()[-1]

    def run(self, *command, fails=False):
        return run("buildah", "run", "--volume", f"{self.shared}:/models", self.container, "--", *command, fails=fails)

    def facts(self):
        return json.loads(run("buildah", "inspect", "--type", "image", self.name))

    def size(self):
        """In MB, without compression."""
        return int(self.run("du", "-sx", "--block-size=1000000", "/").split()[0])

    def remove(self):
        run("buildah", "rm", self.container)


def check_command(image, aton, shared):
    """The image with the command alone."""
    facts = image.facts()["OCIv1"]["config"]
    demand(facts["Entrypoint"] == ["aton"] and facts["WorkingDir"] == "/models", f"the image's configuration is {facts}")
    demand(version() in image.run("aton", "--version"), "the image has another version")
    shutil.copy(SAMPLE, shared / "model.pt2")
    image.run("aton", "export", "model.pt2", "-o", "image.onnx")
    run(aton, "export", shared / "model.pt2", "-o", shared / "here.onnx")
    demand((shared / "image.onnx").read_bytes() == (shared / "here.onnx").read_bytes(), "the image's command writes other bytes")
    demand("the same" in image.run("aton", "verify", "model.pt2", "image.onnx"), "aton verify does not find aton-verify")
    demand("missing.pt2" in image.run("aton", "export", "missing.pt2", fails=True), "the error does not name the missing file")
    for program in ("c++", "cmake", "python3"):
        image.run("sh", "-c", f"command -v {program}", fails=True)


def check_plugins(image, shared):
    """The image with a compiler: a plugin from the development files."""
    shutil.copy(HERE / "plugin.cpp", shared)
    (shared / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(foreign LANGUAGES CXX)\n"
                                           "find_package(aton REQUIRED)\naton_add_plugin(foreign_plugin plugin.cpp)\n")
    image.run("cmake", "-S", ".", "-B", "build", "-G", "Ninja")
    image.run("cmake", "--build", "build")
    demand("foreign_ops::twice" in image.run("aton", "ops", "--plugin", "build/libforeign_plugin.so"), "the plugin's row is not listed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--base")
    options, others = parser.parse_known_args()
    if not shutil.which("buildah"):
        print("skipped: buildah is missing (apt-get install buildah)")
        return SKIPPED
    if options.base:
        others += ["--build-arg", f"DEBIAN={options.base}"]
    for target, check in (("aton", lambda image, shared: check_command(image, options.aton, shared)), ("plugins", check_plugins)):
        with tempfile.TemporaryDirectory(prefix="aton-container-") as name:
            image = Image(target, pathlib.Path(name), others)
            try:
                check(image, pathlib.Path(name))
                print(f"{target}: {image.size()} MB")
            finally:
                image.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
