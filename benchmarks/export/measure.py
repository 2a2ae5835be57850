# SPDX-License-Identifier: MIT
"""Measures the time and the anonymous memory of whole processes."""

import os
import pathlib
import statistics
import subprocess
import sys
import time


class Failed(Exception):
    pass


def remove(*paths):
    for path in paths:
        pathlib.Path(path).unlink(missing_ok=True)


def settle():
    """Flushes pending writes, so that a run is not slowed down by earlier ones."""
    os.sync()


def seconds(command):
    """The wall time of the process."""
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    took = time.perf_counter() - start
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[-300:]}")
    return took


def medians(commands, runs):
    """{name: seconds}: runs the `commands`, {name: (command, files it makes)}, in turn; their files are deleted before each
    run."""
    found = {name: [] for name in commands}
    for _ in range(runs):
        for name, (command, made) in commands.items():
            remove(*made)
            settle()
            found[name].append(seconds(command))
    return {name: statistics.median(times) for name, times in found.items()}


def peak_anonymous(command, made, runs=3):
    """The maximum of RssAnon in /proc over several runs, in MiB; the files are deleted before each run."""
    peak = 0
    for _ in range(runs):
        remove(*made)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        status = f"/proc/{process.pid}/status"
        while process.poll() is None:
            try:
                text = pathlib.Path(status).read_text(encoding="ascii", errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                break
            if "RssAnon:" in text:
                peak = max(peak, int(text.split("RssAnon:")[1].split()[0]))
            time.sleep(0.0002)
        if process.wait() != 0:
            raise Failed(f"{' '.join(command)} exited with {process.returncode}")
    return peak / 1024


def peak_resident(command):
    """(seconds, MiB): the time and the maximum resident set of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print(f"{' '.join(command)} exited with {process.returncode}", file=sys.stderr)
        return None
    return time.perf_counter() - start, usage.ru_maxrss / 1024
