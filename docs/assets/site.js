// SPDX-License-Identifier: MIT
// What the theme adds with its scripts, for readers without a mouse: wide tables that scroll can be reached by the keyboard, and the
// button of each code block is not one more navigation of the page.
"use strict";
{
  const improve = () => {
    for (const nav of document.querySelectorAll(".md-code__nav:not([role])")) nav.setAttribute("role", "none");
    for (const region of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) region.tabIndex = 0;
  };
  new MutationObserver(improve).observe(document.documentElement, { childList: true, subtree: true });
  improve();
}
