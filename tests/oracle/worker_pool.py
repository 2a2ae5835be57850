# SPDX-License-Identifier: MIT
"""Runs numbered jobs in worker processes, so that a crash or a hang affects only one job."""

import collections
import multiprocessing
import time
from multiprocessing.connection import wait

CHUNK = 32
CONTEXT = multiprocessing.get_context("fork")  # the children share what the parent has read


def serve(pipe, job):
    while (chunk := pipe.recv()) is not None:
        for number in chunk:
            pipe.send((number, job(number)))


class Worker:
    def __init__(self, job):
        self.pipe, child = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(child, job), daemon=True)
        self.process.start()
        child.close()
        self.pending = collections.deque()
        self.heard = time.monotonic()

    def give(self, chunk):
        self.pending.extend(chunk)
        self.heard = time.monotonic()
        self.pipe.send(chunk)

    def stop(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_jobs(job, count, lost, workers=2, seconds=60, chunk=CHUNK):
    """[job(0), job(1), ...]; a job whose process dies, or that takes longer than `seconds`, gives lost(number, why)."""
    results = [None] * count
    todo = collections.deque(range(count))
    team = [Worker(job) for _ in range(min(workers, max(1, count)))]

    def replace(w, why):
        if w.pending:  # the first of them was running
            number = w.pending.popleft()
            results[number] = lost(number, why)
            todo.extendleft(reversed(w.pending))
        w.stop()
        team[team.index(w)] = Worker(job)

    while todo or any(w.pending for w in team):
        for w in team:
            if not w.pending and todo:
                w.give([todo.popleft() for _ in range(min(chunk, len(todo)))])
        busy = {w.pipe: w for w in team if w.pending}
        for pipe in wait(list(busy), timeout=1):
            w = busy[pipe]
            try:
                number, results_of = pipe.recv()
            except (EOFError, ConnectionResetError):
                w.process.join()
                replace(w, f"the process died with exit code {w.process.exitcode}")
                continue
            results[number] = results_of
            w.pending.popleft()
            w.heard = time.monotonic()
        for w in list(team):
            if w.pending and time.monotonic() - w.heard > seconds:
                replace(w, f"no result after {seconds} s")
    for w in team:
        w.stop()
    return results
