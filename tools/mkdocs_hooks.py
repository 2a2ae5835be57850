# SPDX-License-Identifier: MIT
"""Adapts the documents, which are written for the repository, to the site: links to files outside docs/, which the site does not have, become
plain code, and the words after the language of a code block, which are for the tests, are removed."""
import re

LINK = re.compile(r"(?<!\\)\[((?:[^\]\[]|\[[^\]]*\])*)\]\((\.\./[^)\s]+)\)")
FENCE = re.compile(r"^```([\w+-]+)( [^\n]*)?$", re.MULTILINE)
LANGUAGES = {"console": "console", "sh": "bash"}


def outside(match):
    path = match.group(2).removeprefix("../")
    return f"{match.group(1)} (`{path}`)" if path not in match.group(1) else match.group(1)


def fence(match):
    title = ' title="does not compile"' if " wrong" in (match.group(2) or "") else ""
    return f"```{LANGUAGES.get(match.group(1), match.group(1))}{title}"


def on_page_markdown(markdown, **_):
    return FENCE.sub(fence, LINK.sub(outside, markdown))
