# SPDX-License-Identifier: MIT
"""The public headers are standard C++20: Clang checks them against libc++, for other systems, and in Microsoft's dialect.

Only the syntax is checked: libc++ stands in for the standard libraries of other systems, with the C headers of musl or MinGW-w64. Exits with 77 where Clang 19 or one of these is missing (tools/setup.sh: aton_install_full).
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CLANG = "clang++-19"
LIBCXX = pathlib.Path("/usr/lib/llvm-19/include/c++/v1")
MUSL = pathlib.Path("/usr/include/x86_64-linux-musl")
MINGW = pathlib.Path("/usr/x86_64-w64-mingw32/include")
BOOST = pathlib.Path("/usr/include/boost")
WARNINGS = ["-Wall", "-Wextra", "-pedantic-errors", "-Wmicrosoft", "-Wgnu", "-Werror", "-Wno-error=overlength-strings"]
# MSVC's rules for names and its keywords. The macro _MSC_VER would ask the headers of libc++ for those of Visual Studio.
MICROSOFT = ["-fms-compatibility", "-fms-extensions", "-fms-compatibility-version=19.40", "-U_MSC_VER", "-D__GNUC__=4"]
# What libc++ takes from the C library of the system itself.
WITHOUT_SYSTEM = ["-D_LIBCPP_HAS_NO_LOCALIZATION", "-D_LIBCPP_HAS_NO_THREADS"]
ALL = "#include <aton/mappings.hpp>\n#include <aton/fusions.hpp>\n#include <aton/plugin.hpp>\n"
AUTHOR = """\
#include <aton/aton.hpp>
#include <aton/mappings/activation.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

namespace {

inline constexpr auto my_ops = table(symbolic<"my_ops::halved(Tensor self, int axis=-1) -> Tensor">(
    [](graph<13> g, value x, std::int64_t axis) { return g.op<"Softmax">(g.op<"Div">(x, 2), attr::axis_i(axis)); }));

} // namespace

ATON_PLUGIN(my_ops)
"""
# Limits of MSVC (its documentation, "String and character literals"): one literal, and adjacent ones together with the null character.
LONGEST_PIECE, LONGEST_LITERAL = 16_380, 65_535
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"(\s*(?=")|)')


def system(target, c_headers, *options):
    def arguments(boost):
        headers = ["-isystem", LIBCXX, "-idirafter", c_headers, "-isystem", boost]
        return ["-target", target, "-nostdlibinc", *headers, *WITHOUT_SYSTEM, *options]

    return arguments


CASES = {
    "libc++ on Linux": (ALL, lambda _: ["-stdlib=libc++"]),
    "macOS on ARM": (AUTHOR, system("arm64-apple-macos13", MUSL)),
    "Linux on ARM": (AUTHOR, system("aarch64-linux-musl", MUSL)),
    "Windows": (AUTHOR, system("x86_64-w64-windows-gnu", MINGW)),
    "Windows in Microsoft's dialect": (AUTHOR, system("x86_64-w64-windows-gnu", MINGW, *MICROSOFT)),
}


def problem_of(source, arguments):
    command = [CLANG, "-std=c++20", "-fsyntax-only", *WARNINGS, *arguments, f"-I{REPOSITORY / 'include'}", "-x", "c++", "-"]
    result = subprocess.run(list(map(str, command)), input=source, capture_output=True, text=True, check=False)
    return result.stderr.strip()[:3000] if result.returncode != 0 else ""


def long_literals(text):
    """The lengths of literals, and of adjacent ones together, that MSVC does not take."""
    found, length = [], 1
    for literal, more in LITERAL.findall(re.sub(r"//[^\n]*", "", text)):
        size = len(re.sub(r"\\.", "x", literal))
        length += size
        if size > LONGEST_PIECE:
            found.append(size)
        if not more:
            if length > LONGEST_LITERAL:
                found.append(length)
            length = 1
    return found


def missing():
    return [name for name in (LIBCXX, MUSL, MINGW, BOOST) if not name.is_dir()] + ([] if shutil.which(CLANG) else [CLANG])


def self_test():
    """What the checks must find."""
    for length, source in ((70_000, "\n".join(['"' + "x" * 999 + '"'] * 71)), (20_000, '"' + "x" * 20_000 + '"')):
        assert long_literals(source), f"a literal of {length} characters is not found"
    assert not long_literals('"' + "x" * 9_000 + '", "' + "y" * 9_000 + '"'), "two literals are taken for one"
    extension = "inline int f(int n) { return ({ n + 1; }); }\n"
    arguments = CASES["libc++ on Linux"][1](BOOST.parent)
    assert problem_of(extension, arguments), "an extension of GNU is not found"
    assert not problem_of("inline int f(int n) { return n + 1; }\n", arguments), "standard C++ is refused"


def main():
    if absent := missing():
        print(f"skipped: {', '.join(map(str, absent))} is missing")
        return 77
    self_test()
    failures = []
    for path in sorted((REPOSITORY / "include").rglob("*.hpp")):
        name = path.relative_to(REPOSITORY)
        failures += [f"{name}: a literal of {length} characters; MSVC takes {LONGEST_PIECE}, together {LONGEST_LITERAL - 1}"
                     for length in long_literals(path.read_text(encoding="utf-8"))]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "boost").symlink_to(BOOST)
        for name, (source, arguments) in CASES.items():
            if problem := problem_of(source, arguments(folder)):
                failures.append(f"{name}:\n{problem}")
    print("\n".join(failures) or f"{len(CASES)} systems and libraries take the headers")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
