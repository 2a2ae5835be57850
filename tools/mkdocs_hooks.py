# SPDX-License-Identifier: MIT
"""Makes the documents, which are written for the repository, fit for the site: links to files outside of docs/ become plain code, since the site
has only pages, and what stands after the language of a code block, which is for the tests, goes."""
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
