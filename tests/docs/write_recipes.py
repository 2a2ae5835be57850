#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the recipes of docs/cookbook.md as a header for cookbook_test.cpp: the code of each in a namespace of its name, with the graphs that
the page shows. The header declares `run` in each namespace, so a recipe that the test does not run is an error of the linker.

    write_recipes.py build/release/tests/docs/cookbook.hpp
"""
import argparse
import pathlib

import documents
from check_snippets import INCLUDE, USING

RAW = "recipe"  # the delimiter of raw strings


def header_of(page):
    blocks = documents.read_blocks(page)
    recipes = [block for block in blocks if block.recipe]
    names = [recipe.recipe for recipe in recipes]
    includes, code = ["#include <span>", "#include <string_view>", "#include <aton/aton.hpp>"], []
    for recipe in recipes:
        graphs = ["\n".join(block.lines) for block in blocks if block.kind() == "graph" and block.code_above is recipe]
        includes += [line for line in recipe.lines if INCLUDE.match(line) and line not in includes]
        code += [f"namespace recipes::{recipe.recipe} {{", USING, f'#line {recipe.first} "{page.name}"']
        code += ["" if INCLUDE.match(line) else line for line in recipe.lines]
        code += ["inline constexpr std::string_view graphs[] = {"]
        code += [f'R"{RAW}({graph}\n){RAW}",' for graph in graphs]
        code += ["};", "void run();", "}"]
    code += ["namespace recipes {", "struct recipe {", "    std::string_view name;", "    void (*run)();", "};"]
    code += ["inline constexpr recipe all[] = {"] + [f'    {{"{name}", {name}::run}},' for name in names] + ["};", "}"]
    return "\n".join(["// Written by write_recipes.py.", "#pragma once", *includes, *code]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("header", type=pathlib.Path)
    header_of_page = header_of(documents.ROOT / "docs" / documents.COOKBOOK)
    parser.parse_args().header.write_text(header_of_page, encoding="utf-8")


if __name__ == "__main__":
    main()
