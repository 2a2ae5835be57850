# SPDX-License-Identifier: MIT
"""Adapts the documents, which are written for the repository, to the site: links to files outside docs/, which the site does not have, become
plain code, and the words after the language of a code block, which are for the tests, are removed. Adds the mark, which `aton view` has too."""
import pathlib
import re

MARK = pathlib.Path(__file__).resolve().parents[1] / "src" / "view" / "page" / "mark.svg"

LINK = re.compile(r"(?<!\\)\[((?:[^\]\[]|\[[^\]]*\])*)\]\((\.\./[^)\s]+)\)")
FENCE = re.compile(r"^```([\w+-]+)( [^\n]*)?$", re.MULTILINE)
# What commands print is not highlighted: a lexer of sessions would take "# IR 9" for a prompt.
LANGUAGES = {"console": "text", "sh": "bash"}
DIALOG = 'data-md-component="search" role="dialog"'


def outside(match, depth):
    """`depth`: how many folders below docs/ the page is."""
    if not match.group(2).startswith("../" * (depth + 1)):
        return match.group()
    path = match.group(2).removeprefix("../" * (depth + 1))
    return f"{match.group(1)} (`{path}`)" if path not in match.group(1) else match.group(1)


def fence(match):
    title = ' title="does not compile"' if " wrong" in (match.group(2) or "") else ""
    return f"```{LANGUAGES.get(match.group(1), match.group(1))}{title}"


def on_files(files, config, **_):
    from mkdocs.structure.files import File  # tests import this module without mkdocs

    files.append(File.generated(config, "assets/mark.svg", abs_src_path=str(MARK)))
    return files


def on_page_markdown(markdown, page=None, **_):
    depth = page.file.src_uri.count("/") if page else 0
    return FENCE.sub(fence, LINK.sub(lambda match: outside(match, depth), markdown))


def on_post_page(output, **_):
    """Names the dialog of the search, which has no name in the theme."""
    if DIALOG not in output:
        raise ValueError("mkdocs_hooks.py: the theme has no dialog without a name: remove on_post_page")
    return output.replace(DIALOG, f'{DIALOG} aria-label="Search"')
