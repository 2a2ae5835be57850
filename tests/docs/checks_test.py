# SPDX-License-Identifier: MIT
"""Plants mistakes in documents and checks that each is found.

usage: checks_test.py ATON
"""

import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

import check_english
import check_links
import check_outputs
import check_rules
import documents

sys.path.insert(0, str(documents.ROOT / "tools"))
import generate_reference  # noqa: E402
import header_scanner  # noqa: E402
import mkdocs_hooks  # noqa: E402

ATON = Path(sys.argv[1]).resolve()
HERE = Path(__file__).resolve().parent

SNIPPETS = """
```cpp
inline int broken() { return nothing; }
```

```cpp elsewhere
```

```cpp wrong body
[[maybe_unused]] value elu = g.op<"Elu">(x);
```

```text
onnx::Elu (opset 6): something
```

```cpp wrong
inline value total(graph<11> g, value x) { return g.op<"Reluu">(x); }
```

```text
onnx::Reluu (opset 11): no such operator; did you mean Selu?
```

```cpp wrong body
g.op<"Gelu">(x);
```

<!-- error-of: here
#include <aton/aton.hpp>
inline aton::dsl::value f(aton::dsl::graph<13> g, aton::dsl::value x) { return g.op<"Gelu">(x); }
-->
```text
error: ... first appears in ... 21
error: ... first appears in ... 20
```

```cpp wrong body
g.op<"Geluu">(x);
```
"""

PROGRAM = """
```cpp
#include <cstdio>
int main() { std::puts("one\\ntwo 1.5 ms"); return 0; }
```

<!-- output-of: above -->
```text
one
two 7 ms
three
```
"""

OUTPUTS = """
```
nobody knows what this is
```

<!-- not checked: -->
```text
no reason
```

<!-- session: -->
```console
$ echo one; echo two
one
three
```

<!-- session: examples/none.pt2 -->
```console
$ true
```

<!-- run: echo one -->
```text
one
two
```

<!-- graph-of: above -->
```text
graph(%x : Float()):
```

<!-- output-of: no_example -->
```text
graph
```

```sh
aton export model.pt2 --opsett 17
aton exprt model.pt2
bash tools/none.sh
bash tools/test.sh --everything
cmake --preset none && cmake --build --preset release --target nobody
ctest --preset release -R no_such_test
cmake -B build -DATON_NONE=1
frobnicate
```

<!-- excerpt-of: examples/elu.cpp -->
```cpp
value y = g.op<"Elu">(self, attr::alpha_f(alpha));
...
graph_data eluu() {
```

```cmake
target_link_libraries(a PRIVATE aton::none)
aton_nothing(a
```

```python
def f(:
```

```json
{"a": 1,}
```

    indented code
"""


def run(script, text, *options):
    """Exit status and output of a check over one document."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "planted.md")
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, HERE / script, *options, path], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class Checks(unittest.TestCase):
    def finds(self, text, *sentences):
        for sentence in sentences:
            self.assertIn(sentence, text)

    def test_snippets(self):
        status, said = run("check_snippets.py", SNIPPETS)
        self.assertEqual(status, 1, said)
        self.finds(
            said,
            "does not compile without diagnostics", "unknown info string `cpp elsewhere`", "the wrong program compiles",
            "no error contains: onnx::Elu (opset 6): something", "did you mean Selu?", "no text block with the expected errors after the wrong program",
            "the compiler does not print: error: ... first appears in ... 21")
        self.assertNotIn("does not print: error: ... first appears in ... 20", said)

    def test_programs(self):
        status, said = run("check_snippets.py", PROGRAM)
        self.assertEqual(status, 1, said)
        self.finds(said, "not printed:\n    three")
        status, said = run("check_snippets.py", PROGRAM.replace("three\n", ""))
        self.assertEqual(status, 0, said)

    def test_outputs(self):
        status, said = run("check_outputs.py", OUTPUTS, "--aton", ATON, "--examples", ATON.parent)
        self.assertEqual(status, 1, said)
        self.finds(
            said,
            "planted.md:3: no check covers this block", "planted.md:8: no check covers this block", "planted.md:31: no check covers this block", "but printed:\n    two",
            "no such file: examples/none.pt2", "not printed:\n    two", "no example no_example",
            "aton export has no option --opsett", "aton has no command exprt", "no such file: tools/none.sh",
            "tools/test.sh has no option --everything", "no preset none", "no target nobody", "no test no_such_test",
            "no option ATON_NONE", "not in the file, or not in this order:\n    graph_data eluu() {", "unknown program frobnicate", "no target aton::none", "no function aton_nothing",
            "unbalanced parentheses", "not python", "not json", "indented code; put it between ```")

    def test_differences(self):
        same = [
            (["a", "..."], ["a", "b", "c"]), (["...", "c"], ["a", "b", "c"]), (["a ... c"], ["a b c", ""]),
            (["x: 12 nodes, 1.52 ms"], ["x: 12 nodes, 0.3 s"]), ([], [""])]
        other = [(["a"], ["a", "b"]), (["a", "b"], ["a"]), (["12 nodes"], ["13 nodes"]), (["...", "d"], ["a"]), (["a."], ["ab"])]
        for quoted, printed in same:
            self.assertEqual(documents.difference(quoted, printed), "", quoted)
        for quoted, printed in other:
            self.assertNotEqual(documents.difference(quoted, printed), "", quoted)

    def test_excerpts(self):
        text = "a\n    b {\n        c\n    }\nd\n"
        for quoted in (["a"], ["b {", "    c", "}"], ["a", "...", "d"], ["    c", "// ...", "d"]):
            self.assertEqual(documents.is_excerpt(quoted, text), "", quoted)
        for quoted in (["e"], ["a", "d"], ["d", "...", "a"], ["b {", "c"]):
            self.assertNotEqual(documents.is_excerpt(quoted, text), "", quoted)

    def test_shell_that_is_right(self):
        shell = check_outputs.Shell(ATON)
        right = [
            "bash tools/test.sh --full   # everything", "aton export model.pt2 -o a.onnx --opset 17 [--weights embed|external]",
            "cmake --preset release && cmake --build --preset release --target regenerate_onnx", "ctest --preset release -R docs_",
            "ATON_WITH_TORCH=1 tools/setup.sh", "cat > a.cpp <<'EOF'", "frobnicate", "EOF", "g++ -I include \\", "  a.cpp"]
        self.assertEqual(shell.check(right), [])
        self.assertEqual([offset for offset, _ in shell.check(["cd a", "frobnicate \\", "  b", "frobnicate"])], [1, 3])

    def test_links(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "docs").mkdir()
            (root / "tools").mkdir()
            (root / "tools" / "there.py").touch()
            (root / "mkdocs.yml").write_text("docs_dir: docs\nnav:\n  - A: a.md\n  - Gone: gone.md\n  - Again: a.md\n", encoding="utf-8")
            (root / "docs" / "a.md").write_text(
                "# One `two`: three\n[ok](#one-two-three) [ok](b.md) [ok](../tools/there.py) `tools/there.py` `[no](link.md)` [ok](https://a.b/c)\n"
                "[bad](#four)\n[bad](c.md)\n[bad](../../outside)\n`tools/none.py` `other/none.py`\n<!-- [no](link.md) -->\n",
                encoding="utf-8")
            (root / "docs" / "b.md").touch()
            self.assertEqual(check_links.problems_of(root), [
                "mkdocs.yml: no such page: docs/gone.md", "mkdocs.yml: docs/b.md is not in the navigation",
                "mkdocs.yml: docs/a.md is in the navigation twice", "a.md:3: no such heading: #four",
                "a.md:4: no such file: c.md", "a.md:5: no such file: ../../outside", "a.md:6: no such path: tools/none.py"])

    def test_english(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {
                "README.md": "# Each with its mend\n\nA row of\nnone. There is no row, and it is no\nlonger there. `it is no value`\n\n"
                             "```text\nit is no value\n```\n<!-- it is no value -->\n[Calls are held](it-is-no-value.md)\nagainst nothing.\n",
                "docs/a.md": "What is None, a text file, a part of it, its behavior: fine. Standard input, at least one, so that parts of it differ.\n",
                "docs/results/oracle.md": "| quoted | it is no value |\n|---|---|\n\nIt shall be found.\n",
                "src/a.cpp": '#include "it is no file.hpp"\n// it is no value\nauto a = "it is "\n    "no value"; auto b = "shall"; auto c = \'"\';\n'
                             'auto d = R"(a list may not stand there)"; /* it is no value */ auto e = "is not a value, said \\"no\\"";\n',
                "include/b.hpp": 'auto a = "is no value";\n', "include/generated/c.hpp": 'auto a = "is no value";\n',
                "tools/fixed.cpp": 'auto a = "is not a value";\n'}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            self.assertEqual(check_english.problems_of(root, {"src/a.cpp": 1, "include/b.hpp": 1, "tools/fixed.cpp": 2, "src/gone.cpp": 1}), [
                "README.md:1: 'mend'; write: fix", "README.md:3: 'of none'; write: is not",
                "README.md:11: 'held against'; write: check against, compare with", "docs/results/oracle.md:4: 'shall'; write: must, is to",
                "src/a.cpp:3: 'is no' in \"it is no value\"; write: is not a",
                "src/a.cpp:5: 'may not stand' in \"a list may not stand there\"; write: is, appears",
                "src/a.cpp: 2 phrases, 1 in english_exceptions.txt",
                "src/gone.cpp: 0 phrases, 1 in english_exceptions.txt; lower the count (--update)",
                "tools/fixed.cpp: 0 phrases, 2 in english_exceptions.txt; lower the count (--update)"])
            self.assertEqual(check_english.read_exceptions("# head\n\n   2 src/a.cpp\n"), {"src/a.cpp": 2})

    def test_every_phrase_is_found(self):
        for banned, phrase in (
                ("diverge", "the node at which they part"), ("rewritten", "weights are laid out anew"), ("zero", "the body runs no time at all"),
                ("check against", "holds the call against each schema"), ("appears", "a list may not stand there"), ("stored", "its structures do not lie so"),
                ("missing", "an axis that is not there"), ("smallest", "the least number"), ("support", "Clang knows no such option"),
                ("express", "ONNX has no word for it"), ("archive", "no archive of torch"), ("your own", "operators of one's own"),
                ("except", "any type but for bool"), ("must", "where it shall be known"), ("whether", "be it one of these"),
                ("as many", "so many threads that all run"), ("takes care", "the cast sees to it"), ("everything else", "all else is refused"),
                ("similar", "cat and their kin"), ("inside", "inside of a string"), ("pass", "weights are handed in"), ("separately", "counts such calls apart"),
                ("expected", "refused as told"), ("true", "it is so."), ("related", "operators taken for their siblings"), ("continue", "it goes on where it was"),
                ("is not", "its type is that of no value"), ("string", "takes a text"), ("returned", "2 must come out"), ("command", "with the words that repeat it"),
                ("of it", "parts thereof"), ("does not have", "it has not a size"), ("-ize", "quantised tensors"), ("American", "its behaviour")):
            self.assertIn(banned, " ".join(instead for _, _, instead in check_english.findings(phrase)), phrase)

    def test_pages_of_the_site(self):
        page = "[elu](../examples/elu.cpp) [`tools/a.py`](../tools/a.py) [here](b.md#c)\n```cpp wrong body graph<11>\ncode\n```\n```sh\n```\n```\n```\n"
        self.assertEqual(
            mkdocs_hooks.on_page_markdown(page),
            'elu (`examples/elu.cpp`) `tools/a.py` [here](b.md#c)\n```cpp title="does not compile"\ncode\n```\n```bash\n```\n```\n```\n')
        in_folder = types.SimpleNamespace(file=types.SimpleNamespace(src_uri="reference/a.md"))
        self.assertEqual(mkdocs_hooks.on_page_markdown("[here](../b.md) [elu](../../examples/elu.cpp)\n```cpp declaration\n```\n", page=in_folder),
                         "[here](../b.md) elu (`examples/elu.cpp`)\n```cpp\n```\n")

    def test_declarations_of_a_header(self):
        header = """
#define LOCAL 1
#undef LOCAL
/// Says it.
#define SAYS(x) \\
    say(x)
namespace a::b {
/// A box of one.
template <class T>
    requires(sizeof(T) > 1)
class box : public base<T> {
    friend class lid;
    using base<T>::base;

public:
    explicit box(T v, int n = f(1, 2)) : v_(v) {}
    box(box const&) = delete;
    box& operator=(box&&) noexcept;
    /// Gives the text,
    // NOLINTNEXTLINE
    /// and
    /// more.
    template <class = void>
    [[nodiscard("use it")]] std::string text(/* unused */ int = 0) const;
    operator bool() const { return v_ > 0; }
    friend bool operator<(box const& x, box const& y) { return x.v_ < y.v_; }
    static constexpr int size = 3; ///< elements
    void (*run)(int) = nullptr;
    // Internal.
    int hidden() const;

public:
    int shown() const;

private:
    T v_; ///< of nobody's concern
};
template <>
class box<int> {};
box(int) -> box<int>;
struct later;
enum class color : int { red = 1, green, ///< as grass
                         blue };
template <class T>
concept small = requires(T t) { { t.size() } -> same<int>; };
template <class T>
inline constexpr bool is_box = false;
template <class T>
inline constexpr bool is_box<box<T>> = true;
inline constexpr auto rows = table([](int x) { return x; }, 2);
using c::d;
using number = int;
namespace detail {
int nothing();
}
} // namespace a::b
"""

        def flat(declared):
            return [line for d in declared for line in ((d.kind, d.qualified, " ".join([*d.template, d.signature]), " ".join(d.doc)), *flat(d.members))
                    if not d.is_routine]
        self.assertEqual(flat(header_scanner.Scanner("a.hpp", header).scan(())), [
            ("macro", "SAYS", "SAYS(x)", "Says it."),
            ("class", "a::b::box", "template <class T> requires(sizeof(T) > 1) class box : public base<T>", "A box of one."),
            ("constructor", "a::b::box::box", "explicit box(T v, int n = f(1, 2))", ""),
            ("function", "a::b::box::text", "std::string text(int = 0) const", "and more."),
            ("function", "a::b::box::operator bool", "operator bool() const", ""),
            ("function", "a::b::box::operator<", "bool operator<(box const& x, box const& y)", ""),
            ("constant", "a::b::box::size", "static constexpr int size = 3", "elements"),
            ("field", "a::b::box::run", "void (*run)(int) = nullptr", ""),
            ("function", "a::b::box::shown", "int shown() const", ""),
            ("enum", "a::b::color", "enum class color : int", ""),
            ("enumerator", "a::b::color::red", "red = 1", ""),
            ("enumerator", "a::b::color::green", "green", "as grass"),
            ("enumerator", "a::b::color::blue", "blue", ""),
            ("concept", "a::b::small", "template <class T> concept small = requires(T t) { { t.size() } -> same<int>; }", ""),
            ("constant", "a::b::is_box", "template <class T> inline constexpr bool is_box = false", ""),
            ("constant", "a::b::rows", "inline constexpr auto rows = table([](int x) { return x; }, 2)", ""),
            ("alias", "a::b::number", "using number = int", "")])

    def test_comments_of_the_reference(self):
        self.assertEqual(generate_reference.comment([
            "A list<T> of `a * b`, as load() and aton::error say; max_size is <b> * 2.", "- one", "  more", "", "    shown", "", "```cpp body", "f(x);", "```"]), [
            "A list\\<T\\> of `a * b`, as `load()` and `aton::error` say; `max_size` is \\<b\\> \\* 2.", "", "- one more", "",
            "<!-- not checked: quoted from the comment -->", "```text", "shown", "```", "", "```cpp body", "f(x);", "```", ""])
        self.assertEqual(generate_reference.without_internals("inline typename detail::maker<a<1>, 2>::type foo{}"), "inline /* internal */ foo{}")
        self.assertEqual(generate_reference.broken("int f(" + ", ".join(["int parameter"] * 9) + ")"),
                         ["int f(" + ", ".join(["int parameter"] * 5) + ",", "      " + ", ".join(["int parameter"] * 4) + ")"])

    def test_rules(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {
                "include/aton/dsl/a.hpp": "enum class a_rule : int { none, covered, // a comment\n  by_comment, forgotten };\n"
                                          'static_assert(f(1) == 2, "said"\n  " in two"); static_assert(std::is_empty_v<T>, "not \\"said\\"");',
                "include/aton/exporter/b.hpp": "enum class other_rule { elsewhere };",
                "tests/compile_fail/cases/c.cpp": "// rule: of_a_case\n",
                "docs/errors.md": "### covered\n\nsaid in two\n\n```cpp wrong body\n```\n\n```cpp\n```\n\n<!-- rule: by_comment, another -->\n"
                                  "### only_right\n\n```cpp\n```\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            self.assertEqual(check_rules.missing(root), ([
                "a.hpp: a_rule::forgotten has no section", 'a.hpp: nothing quotes the static_assert: not "said"',
                "c.cpp: rule of_a_case has no section", "section only_right does not show a wrong program first and a correct one last"], 4))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
