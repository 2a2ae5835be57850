# SPDX-License-Identifier: MIT
"""Packs an existing build as Debian packages, unpacks them into an empty root, runs the commands of README.md, exports with the command, and
builds programs and a plugin with the development files.

usage: debian.py --work FOLDER --compiler COMPILER --cmake CMAKE --build FOLDER

FOLDER is emptied first. Skipped where dpkg-shlibdeps is missing. What lintian checks is left out where it is not installed.
"""

import argparse
import gzip
import pathlib
import re
import shutil
import sys

from consume import REPOSITORY, SAMPLE, SKIPPED, Way, demand, demand_export, files_below, run, version

sys.path.append(str(REPOSITORY / "tests" / "python"))
import readme_commands

# The first version of a package closes the bug that asked for it, which is a matter for Debian's maintainers.
LINTIAN_IGNORES = "initial-upload-closes-no-bugs"


def fields_of(package):
    """The control file: {name of a field: its text}."""
    text = run("dpkg-deb", "-f", package)
    return dict(re.findall(r"^(\S+): (.*(?:\n .*)*)", text, re.MULTILINE))


def pack(way):
    """The packages, by name: {name: path}."""
    cpack = pathlib.Path(shutil.which(way.cmake)).with_name("cpack")
    # The contents are those of a release; xz would take half a minute.
    run(cpack, "--config", way.build / "CPackConfig.cmake", "-B", way.work / "packages", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
    packages = {path.name.split("_")[0]: path for path in (way.work / "packages").glob("*.deb")}
    demand(sorted(packages) == ["aton", "libaton-dev"], f"cpack made {sorted(packages)}")
    return packages


def check_fields(packages):
    command, development = (fields_of(packages[name]) for name in ("aton", "libaton-dev"))
    demand(command["Version"] == development["Version"] == f"{version()}-1", f"the version is {command['Version']}")
    for library in ("libc6", "libprotobuf", "libsimdjson", "libstdc++6"):
        demand(re.search(rf"\b{re.escape(library)}", command["Depends"]), f"aton does not depend on {library}: {command['Depends']}")
    demand("dev" not in command["Depends"], f"the command depends on development files: {command['Depends']}")
    demand(f"aton (= {version()}-1)" in development["Depends"], f"libaton-dev depends on {development['Depends']}")


def check_files(root, packages):
    """What is in which package, and what policy demands."""
    root.mkdir()
    names = {}
    for package, path in packages.items():
        run("dpkg-deb", "-x", path, root / package)
        names[package] = set(files_below(root / package))
        run("dpkg-deb", "-x", path, root / "both")
    demand(not names["aton"] & names["libaton-dev"], f"files of both packages: {names['aton'] & names['libaton-dev']}")
    for name in ("usr/bin/aton", "usr/bin/aton-verify", "usr/share/man/man1/aton-export.1.gz", "usr/share/zsh/vendor-completions/_aton",
                 "usr/share/bash-completion/completions/aton", "usr/share/fish/vendor_completions.d/aton.fish"):
        demand(name in names["aton"], f"{name} is not in the package aton, which has {sorted(names['aton'])}")
    for package, files in names.items():
        for name in ("copyright", "changelog.gz", "changelog.Debian.gz"):
            demand(f"usr/share/doc/{package}/{name}" in files, f"{package} has no {name}")
    strangers = [name for name in names["libaton-dev"] if not re.match(r"usr/(include/aton/|lib/|share/doc/libaton-dev/)", name)]
    demand(not strangers and not any("torch" in name for name in names["libaton-dev"] if "cmake" in name or name.endswith(".a")),
           f"libaton-dev has files of others: {strangers}")
    manual = gzip.decompress((root / "both/usr/share/man/man1/aton-export.1.gz").read_bytes()).decode()
    demand("\\-\\-opset" in manual, "the manual page does not describe the options")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve(), required=True)
    options = parser.parse_args()
    if not shutil.which("dpkg-shlibdeps"):
        print("skipped: dpkg-shlibdeps is missing (apt-get install dpkg-dev)")
        return SKIPPED
    way = Way(options)
    packages = pack(way)
    check_fields(packages)
    root = way.work / "root"
    check_files(root, packages)
    prefix = root / "both" / "usr"
    way.demand_no_paths(prefix, REPOSITORY, way.build, way.work)
    demand_export(way, prefix, "bin/aton", "-DVERIFY=ON")
    demand("the same" in run(prefix / "bin/aton", "verify", SAMPLE, way.work / "command.onnx"), "aton verify does not find aton-verify")
    (way.work / "readme").mkdir()
    readme_commands.check(prefix / "bin/aton", way.work / "readme", {"PATH": str(prefix / "bin")})
    if shutil.which("lintian"):
        run("lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", LINTIAN_IGNORES, *packages.values())
    else:
        print("lintian is not installed: what it checks is left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
