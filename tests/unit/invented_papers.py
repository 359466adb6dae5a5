# SPDX-License-Identifier: GPL-2.0-only
"""Invented runs of tools/papers, for the tests of its rows and of its pages."""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / name) for name in ("papers", "bench", "demo")]
sys.path.insert(1, str(TOOLS))

import kept as keeping  # noqa: E402
import sc  # noqa: E402
import sc_traces  # noqa: E402

COMMIT = "abc 2026-11-20"

PROBE = """samsung clustered-page correct high measured:16384+0 16384+0 shows 0.6s writes are slow
samsung read-buffer correct high measured:262144+0 262144+0 shows 4.2s a read is remembered
samsung open-units correct medium measured:27+0 27+0 shows 2.8s 27 blocks can be written in turn
samsung advice log_page_sectors 32
samsung advice log_rewrite on
samsung advice move_block_sectors 8192
samsung advice move_fill_blocks 230
samsung advice open_units 27
"""
TRANSCEND = "".join(
    f"transcend {name} correct high measured:65536+0 65536+0 shows 0.6s because\n"
    for name in ("clustered-page", "clustered-block", "read-buffer", "write-buffer"))
CURVES = "".join(f"transcend chart {name} {size} {value}\n" for name, values in {
    "page": (1, 2), "read-first": (0.22, 0.3), "read-again": (0.2, 0.1),
    "write-full": (2, 3), "write-empty": (3, 4)}.items()
    for size, value in zip((1, 4), values, strict=True))
PATTERNS = """# samsung.conf: 61056 MiB, page 16 KB, block 4096 KB, 427 log blocks, span 4070 MiB
sequential write 512 KB         86.183 MB/s     6083.4 us (longest    23482.6)     0.01 copies
random read        4 KB         16.296 MB/s      251.3 us (longest      251.4)     0.00 copies
"""
MODEL = """waits, ms: mean 0.734  p99 0.01  p99.9 38.97  p99.99 2397.2  longest 2407.3
  5.5722 MB/s      735.1 us a write      850 erases  18980 moved  0 holes  longest 2407 ms
"""


def finish(top, run, commit=COMMIT):
    """What a run leaves that has ended well."""
    (run.folder(top) / "commit").write_text(f"{commit}\n")
    (run.folder(top) / "settings").write_text(run.settings())


def whole(figure, top):
    """What is kept of a figure that was measured here only: rows by their IDs, data, text."""
    found = keeping.complete(figure, keeping.measured(figure, top)[0])
    return {entry["id"]: entry for entry in found["rows"]}, found["data"], found["text"]


def write_replay(path, mean, tail):
    """What guest-sc.sh leaves of one replay: two requests in a burst, a write of half a block."""
    result = {"all": {"response": {"mean_ns": mean * 1e6, "worst_ns": tail * 1e6}}}
    path.with_suffix(".json").write_text(json.dumps(result))
    path.with_suffix(".csv").write_text(
        "line,kind,offset,bytes,due_ns,submitted_ns,completed_ns\n"
        f"1,r,0,4096,0,0,{mean * 5e5:.0f}\n2,w,4096,8192,10,20,{mean * 1e6 + 10:.0f}\n"
        f"3,w,512,2048,10,20,{tail * 1e6 + 10:.0f}\n")


def invent_sc(top, trace, **means):
    """A run of SC with these means for D64 of its sides, 2 for all others; ten times the tail."""
    run = sc.run_of(trace)
    folder = run.folder(top)
    folder.mkdir(parents=True)
    if trace in sc.TRACES:
        sc_traces.generate(trace, 1000, folder / "trace.spc")
    for side, (_options, distributions) in sc.SIDES.items():
        for distribution in distributions:
            mean = means.get(side, 2) if distribution == "D64" else \
                BARE[distribution] if side == "bare" else 2
            write_replay(folder / f"{side}-{distribution}", mean, 10 * mean)
            with open(folder / "figures", "a", encoding="ascii") as out:
                out.write(f"{side}-{distribution}.erases 30\n"
                          f"{side}-{distribution}.drain_erases {0 if side == 'bare' else 4}\n")
    finish(top, run)
    return run


def invent_postmark(top, run, ours=10, commit=COMMIT):
    """40 s on the bare drive, 10 or so by our options, 20 by the paper's."""
    run.folder(top).mkdir(parents=True)
    seconds = {"bare": 40, "ours": ours, "paper": 20}[run.side]
    (run.folder(top) / "figures").write_text("".join(
        f"postmark.{run.load}.{figure}\n" for figure in (
            f"ms {seconds}000", f"moved {0 if run.size == 'unlimited' else 1000}", "logged 2000",
            "moves 1002", "moves_12k 101", "moved_sectors 10136", "moved_sectors_12k 4128",
            "small_permille 200")))
    finish(top, run, commit)


def invent_normal_path(top, run, **seconds):
    """A work on files that takes 10 s on each side, or so many."""
    run.folder(top).mkdir(parents=True)
    counts = {"busy_ns": 1, "merge_copies": 7, "requests": 200, "aligned": 50, "within": 150,
              "reads": 40, "reads_within": 40, "read_bytes": 8 << 20, "write_bytes": 17 << 20}
    (run.folder(top) / "figures").write_text("".join(
        f"{run.name_of_load}.{side}.{key} {value}\n" for side in run.sides()
        for key, value in {**counts, "ms": 1000 * seconds.get(side.replace("-", "_"), 10)}.items()))
    finish(top, run)


BARE = {"D1": 1, "D4": 1.5, "D16": 2}
