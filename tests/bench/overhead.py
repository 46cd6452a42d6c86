#!/usr/bin/env python3
"""What sampling costs a program, beside the least that any sampler can cost.

usage: tests/bench/overhead.py [--falloff target/release/falloff] [--rounds 12] [--depth 30] [--rate 200]

cdeep times itself in chunks of about a millisecond and drops the chunks in which it was preempted. Each round runs it
plain, under floor.c (the same timer with an empty handler: the delivery floor) and under falloff, in an order that
changes by round; ratios are taken within a round. Prints a Markdown table.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CFLAGS = "-O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -pthread".split()


def build(work):
    subprocess.run(["gcc", *CFLAGS, str(HERE / "cdeep.c"), "-o", str(work / "cdeep")], check=True)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(HERE / "floor.c"), "-o", str(work / "floor.so")], check=True)


def run(command, environment):
    """Mean of the undisturbed chunks in us, CPU seconds of the process tree, and what it printed on stderr."""
    before = os.times()
    ended = subprocess.run(command, env={**os.environ, **environment}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                           text=True, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return float(re.search(r"tmean ([0-9.]+)", ended.stderr)[1]), cpu, ended.stderr


def samples_of(falloff, directory):
    import json
    text = subprocess.run([falloff, "view", directory, "--format", "json"], check=True, capture_output=True, text=True)
    return json.loads(text.stdout)["health"]["samples"]


def interval(values):
    """Median and the range between the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.4f} [{low:.4f}, {high:.4f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--falloff", default="target/release/falloff")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--depth", type=int, default=30)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--chunks", type=int, default=2000)
    options = parser.parse_args()
    falloff = str(pathlib.Path(options.falloff).resolve())
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        build(work)
        # About a millisecond a chunk at any depth: the work is at the leaf.
        program = [str(work / "cdeep"), str(options.depth), "700", str(options.chunks)]
        floor = {"LD_PRELOAD": str(work / "floor.so"), "FLOOR_MODE": "cpu", "FLOOR_RATE": str(options.rate)}
        chunks = {"plain": [], "floor": [], "falloff": []}
        cpus = {"plain": [], "floor": [], "falloff": []}
        taken = {"floor": [], "falloff": []}
        for number in range(options.rounds):
            kinds = ["plain", "floor", "falloff"]
            for kind in kinds[number % 3:] + kinds[:number % 3]:
                directory = str(work / f"run{number}")
                command = [falloff, "run", "-e", f"cpu@{options.rate}", "-o", directory, "--", *program] if kind == "falloff" else program
                chunk, cpu, said = run(command, floor if kind == "floor" else {})
                chunks[kind].append(chunk)
                cpus[kind].append(cpu)
                if kind == "floor":
                    taken[kind].append(int(re.search(r"FLOOR samples (\d+)", said)[1]))
                elif kind == "falloff":
                    taken[kind].append(samples_of(falloff, directory))
        print(f"cdeep {options.depth} ({options.depth + 6} frames), {options.rate}/s asked, {options.rounds} rounds, "
              f"chunk of {statistics.median(chunks['plain']):.0f} us\n")
        print("| | samples | chunk time against plain, median [quartiles] | CPU of the process tree against plain |")
        print("|---|---|---|---|")
        for kind in ("floor", "falloff"):
            pairs = [a / b for a, b in zip(chunks[kind], chunks["plain"])]
            tree = [a / b for a, b in zip(cpus[kind], cpus["plain"])]
            name = "delivery floor (empty handler)" if kind == "floor" else "falloff run"
            print(f"| {name} | {statistics.median(taken[kind]):.0f} | {interval(pairs)} | {interval(tree)} |")
        both = [a / b for a, b in zip(chunks["falloff"], chunks["floor"])]
        print(f"| falloff against the floor | | {interval(both)} | |")


if __name__ == "__main__":
    main()
