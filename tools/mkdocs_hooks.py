# SPDX-License-Identifier: MIT
"""Adapts the documents, which are written for the repository, to the site: links to files outside docs/, which the site does not have, become
plain code, and the words after the language of a code block, which are for the tests, are removed."""
import re

LINK = re.compile(r"(?<!\\)\[((?:[^\]\[]|\[[^\]]*\])*)\]\((\.\./[^)\s]+)\)")
FENCE = re.compile(r"^```([\w+-]+)( [^\n]*)?$", re.MULTILINE)
LANGUAGES = {"console": "console", "sh": "bash"}


def outside(match, depth):
    """`depth`: how many folders below docs/ the page is."""
    if not match.group(2).startswith("../" * (depth + 1)):
        return match.group()
    path = match.group(2).removeprefix("../" * (depth + 1))
    return f"{match.group(1)} (`{path}`)" if path not in match.group(1) else match.group(1)


def fence(match):
    title = ' title="does not compile"' if " wrong" in (match.group(2) or "") else ""
    return f"```{LANGUAGES.get(match.group(1), match.group(1))}{title}"


def on_page_markdown(markdown, page=None, **_):
    depth = page.file.src_uri.count("/") if page else 0
    return FENCE.sub(fence, LINK.sub(lambda match: outside(match, depth), markdown))
