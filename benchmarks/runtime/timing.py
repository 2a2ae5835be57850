# SPDX-License-Identifier: MIT
"""Prints the line of one operator: the minimum seconds of several runs."""
import json
import time


def measure(name, seconds, f):
    f()
    best, end, runs = float("inf"), time.perf_counter() + seconds, 0
    while runs < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
        runs += 1
    print(json.dumps({"operator": name, "seconds": best}), flush=True)
