# SPDX-License-Identifier: MIT
"""The line of one operator: the least seconds of several runs."""
import json
import time


def measure(name, seconds, f):
    f()
    least, end, runs = float("inf"), time.perf_counter() + seconds, 0
    while runs < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        f()
        least = min(least, time.perf_counter() - start)
        runs += 1
    print(json.dumps({"operator": name, "seconds": least}), flush=True)
