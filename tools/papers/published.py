# SPDX-License-Identifier: GPL-2.0-only
"""Every number that texts and tables of the papers give; those of their pictures cannot be read.

PUBLISHED: ID of a row -> what is published. Where a paper describes its own design there are two
rows, "ours" and "paper": with the options that ressd-probe advises, and with the paper's own rules.
"""

from dataclasses import dataclass

import sc_traces

RULES = ("ours", "paper")
RE_DRIVES = {"samsung": "SSD-A", "supertalent": "SSD-B", "ocz": "SSD-C"}
PA_DRIVES = {"samsung": "SSD-A", "supertalent": "SSD-B", "intel": "SSD-C", "transcend": "SSD-D"}


@dataclass(frozen=True)
class Number:
    """A published number; `claim`: what is at least (">=") or at most as large is reached, too.

    `is_gain`: times as good by the paper's own design, so that what is above or below 1 is judged.
    """

    value: float
    unit: str
    claim: str = None
    is_gain: bool = False


PUBLISHED = {}


def table(prefix, unit, columns, rows):
    """A table of the paper: rows[name] has a value, or None, for each column."""
    for name, values in rows.items():
        for column, value in zip(columns, values, strict=True):
            if value is not None:
                PUBLISHED[f"{prefix}/{column}/{name}"] = Number(value, unit)


def design(figure, point, unit, values):
    """What a paper says of its design, by drive: reached by ours if at least as good."""
    for drive, value in values.items():
        for rules in RULES:
            PUBLISHED[f"{figure}/{rules}-{drive}/{point}"] = \
                Number(value, unit, ">=" if rules == "ours" else None, is_gain=unit == "x")


def same(figure, point, drives):
    """As design(), but it is the same as the bare drive."""
    for drive in drives:
        for rules in RULES:
            PUBLISHED[f"{figure}/{rules}-{drive}/{point}"] = Number(1, "x")


def gain(identity, value, claim=">="):
    """Times as good by the paper's design, which is at least, or at most, so much."""
    PUBLISHED[identity] = Number(value, "x", claim, is_gain=True)


# RE: tables.
table("re-table2", "MB/s", RE_DRIVES.values(), {
    "seqread": [110, 117, 220], "seqwrite": [85, 79, 129], "randread": [16.3, 8.51, 20.2],
    "randwrite-4k": [0.421, 0.018, 6.54]})
# RE 3.3.
PUBLISHED["re-2/SSD-B/sequential-over-random"] = Number(4300, "x")
PUBLISHED["re-2/SSD-A/ordered-over-random"] = Number(12, "x", ">=")
PUBLISHED["re-2/SSD-B/ordered-over-random"] = Number(86, "x", ">=")
PUBLISHED["re-2/SSD-C/ordered-over-random"] = Number(2, "x")
# RE 4.2: doubled, more than quintupled, not improved; the others the same as bare.
design("re-3", "randwrite-4k", "x", {"SSD-A": 2, "SSD-B": 5})
same("re-3", "randwrite-4k", ["SSD-C"])
for _load in ("randread", "seqwrite", "seqread"):
    same("re-3", _load, RE_DRIVES.values())
# RE 4.2, 5: memory of the map.
for _rules in RULES:
    _claim = "<=" if _rules == "ours" else None
    PUBLISHED[f"re-memory/{_rules}/512-MB-60000-blocks"] = Number(3334, "KB", _claim)
    PUBLISHED[f"re-memory/{_rules}/128-MB"] = Number(1.7 * 1024, "KB", _claim)
# RE 4.2, Fig. 4: neither with 8 KB.
same("re-4", "randwrite-8k", ["SSD-C"])
# RE 3.2: MB of map for 100 MB of reserved area.
for _rules in RULES:
    PUBLISHED[f"re-memory/{_rules}/MB-for-100-MB"] = \
        Number(1, "MB", "<=" if _rules == "ours" else None)
# RE Tables 3 and 5: the loads, of which everything here is a 16th.
for _name, _values in {"PM-A": (0.8, 80000, 10000, 30000), "PM-B": (1.6, 160000, 20000, 60000),
                       "PM-C": (2.4, 240000, 30000, 90000)}.items():
    for _what, _value, _unit in zip(("file-set", "files", "directories", "transactions"), _values,
                                    ("GB", "files", "directories", "transactions"), strict=True):
        PUBLISHED[f"re-table3/{_name}/{_what}"] = Number(_value, _unit)
for _name, _rows, _size in (("OLTP-A", 20e6, 5.8), ("OLTP-B", 40e6, 11), ("OLTP-C", 60e6, 17)):
    PUBLISHED[f"re-table5/{_name}/rows"] = Number(_rows, "rows")
    PUBLISHED[f"re-table5/{_name}/table"] = Number(_size, "GB")
# RE 4.3: percent less time; GB of reserved area.
design("re-5", "PM-A-0.25-GB", "%", {"SSD-A": 27.8, "SSD-B": 7.7})
design("re-5", "PM-C-0.25-GB", "%", {"SSD-A": 36.3, "SSD-B": 43.7})
design("re-5", "PM-C-0.125-GB", "%", {"SSD-B": 43})
design("re-5", "PM-C-0.75-GB", "%", {"SSD-B": 71, "SSD-C": 20})
design("re-5", "PM-C-unlimited", "%", {"SSD-B": 85})
# SSD-C gains nothing by 0.25 GB or less.
for _name in ("PM-A", "PM-B", "PM-C"):
    for _size in ("0.125-GB", "0.25-GB"):
        for _rules, _claim in zip(RULES, (">=", "<="), strict=True):
            PUBLISHED[f"re-5/{_rules}-SSD-C/{_name}-{_size}"] = Number(0, "%", _claim)
for _name, _percent in (("PM-A", 11.24), ("PM-B", 21.61), ("PM-C", 25.75)):
    PUBLISHED[f"re-table4/small-random/{_name}"] = Number(_percent, "%")
# RE 4.4: real databases, times as many transactions a second.
design("re-6", "OLTP-C-0.125-GB", "x", {"SSD-A": 1.29})
design("re-6", "OLTP-C-0.75-GB", "x", {"SSD-A": 1.80, "SSD-B": 5, "SSD-C": 1.44})
design("re-6", "OLTP-A-0.25-GB", "x", {"SSD-B": 1.5})
design("re-6", "OLTP-C-0.25-GB", "x", {"SSD-B": 3})
for _name, _percent in (("OLTP-A", 85.72), ("OLTP-B", 91.1), ("OLTP-C", 94.12)):
    PUBLISHED[f"re-table6/small-random/{_name}"] = Number(_percent, "%")
# RE 4.5: of the mover's writes, those of 12 KB and more, and the part of its data in them.
for _figure, _size, _writes, _data in (
        ("re-7", "PM-B-0.125-GB", 13, 39), ("re-7", "PM-B-0.25-GB", 15.6, 44),
        ("re-8", "OLTP-C-0.125-GB", 6, 21), ("re-8", "OLTP-C-0.25-GB", 8, 27)):
    for _rules in RULES:
        _claim = ">=" if _rules == "ours" else None
        PUBLISHED[f"{_figure}/{_rules}/{_size}-writes"] = Number(_writes, "%", _claim)
        PUBLISHED[f"{_figure}/{_rules}/{_size}-data"] = Number(_data, "%", _claim)
for _figure, _seconds in (("re-7", 200), ("re-8", 650)):
    PUBLISHED[f"{_figure}/paper/mover-begins"] = Number(_seconds, "s")

# PA and ME: the drives, what was found of them, and in which time.
table("pa-table1", "MB/s", PA_DRIVES.values(), {
    "seqread": [110, 117, 254, 142], "seqwrite": [85, 81, 78, 91],
    "randread-4k": [10.73, 5.68, 23.59, 9.22], "randwrite-4k": [0.28, 0.01, 11.25, 0.01]})
table("pa-parameters", "KB", PA_DRIVES.values(), {
    "clustered-page": [16, 128, 4, 128], "clustered-block": [4096, 16384, 5120, 16384],
    "read-buffer": [256, 0, 3072, 64], "write-buffer": [255, 128, 112, 0]})
table("pa-table3", "KB", PA_DRIVES.values(), {"prefetching": [0, 0, 0, 0]})
table("pa-table3", "", PA_DRIVES.values(), {"buffer-not-cache": [1, 1, 1, 1]})
# PA 4.2.5: sizes from which a read is faster the second time. ME IV.F: SSD-D, to judge its buffer.
for _drive, _size in (("SSD-C", 512), ("SSD-D", 16)):
    PUBLISHED[f"pa-6/{_drive}/faster-from"] = Number(_size, "KB")
PUBLISHED["me-8/SSD-D/read-1-KB"] = Number(200, "us")
PUBLISHED["me-9/SSD-D/write-1-KB"] = Number(1500, "us")
table("me-nand", "kinds", PA_DRIVES.values(), {"kinds-of-pages": [1, 2, 2, 2]})


def times(rows):
    """Table 2, minutes and seconds: what is faster is as good."""
    for name, values in rows.items():
        for drive, (minutes, seconds) in zip(PA_DRIVES.values(), values, strict=True):
            PUBLISHED[f"pa-table2/{drive}/{name}"] = Number(60 * minutes + seconds, "s", "<=")


times({"clustered-page": [(0, 18), (1, 3), (1, 4), (1, 13)],
       "clustered-block": [(30, 46), (92, 14), (327, 46), (90, 50)],
       "read-buffer": [(10, 54), (14, 13), (46, 9), (12, 15)],
       "write-buffer": [(1, 18), (9, 5), (1, 48), (8, 21)]})
# PA 6.2, 6.3.
gain("pa-9/SSD-A-8-MB/PASA-PAI-over-NoPAS-PAI", 1.20)
gain("pa-9/SSD-A-8-MB/PASA-PAI-over-PAS-PAI", 1.05)
gain("pa-9/most/over-NoPAS-noop", 1.24)
gain("pa-10/SSD-D-OLTP/PASA-PAI-over-NoPAS-noop", 4.21)
# PA Table 4; requests beside those of NoPAS, for they are as many as the files.
for _size, _rows in (("8-MB", {"NoPAS": (1, 38.26, 23.34), "PAS": (59348 / 34788, 35.22, 100),
                               "PASA": (64834 / 34788, 88.48, 100)}),
                     ("256-KB", {"NoPAS": (1, 26.84, 98.46), "PAS": (2972 / 3197, 43.33, 100),
                                 "PASA": (4587 / 3197, 55.39, 100)})):
    for _side, (_requests, _aligned, _within) in _rows.items():
        _claim = None if _side == "NoPAS" else ">="
        if _claim:
            PUBLISHED[f"pa-table4/{_size}/{_side}-requests"] = Number(round(_requests, 3), "x")
        PUBLISHED[f"pa-table4/{_size}/{_side}-aligned"] = Number(_aligned, "%", _claim)
        PUBLISHED[f"pa-table4/{_size}/{_side}-within"] = Number(_within, "%", _claim)

# IR: the slides' last line, and the abstract of the paper behind them (EMSOFT 2009).
for _side, _milliseconds in (("IRBW-FIFO", 475), ("IRBW-FIFO-RP", 458)):
    PUBLISHED[f"ir-11/Samsung/{_side}-mean-response"] = Number(_milliseconds, "ms")
gain("ir-11/Samsung/IRBW-FIFO-RP-over-IRBW-FIFO-mean-response", round(0.458 / 0.475, 3), "<=")
gain("ir-8/most/over-kernel", 1.17)

# SC: the traces, and what D64 costs.
for _trace, _row in sc_traces.TABLE_1.items():
    PUBLISHED[f"sc-table1/{_trace}/reads"] = Number(_row.reads, "%")
    PUBLISHED[f"sc-table1/{_trace}/read-size"] = Number(_row.read_sectors, "sectors")
    PUBLISHED[f"sc-table1/{_trace}/write-size"] = Number(_row.write_sectors, "sectors")
    PUBLISHED[f"sc-table1/{_trace}/interval"] = Number(_row.interval, "s")
for _trace in ("original", "D1", "D4", "D16", "D64"):
    for _what, _value, _unit in zip(("reads", "read-size", "write-size", "interval"),
                                    (32.73, 14.74, 16.67, 0.15),
                                    ("%", "sectors", "sectors", "s"), strict=True):
        PUBLISHED[f"sc-table2/{_trace}/{_what}"] = Number(_value, _unit)
PUBLISHED["sc-1/D64-over-D1/least"] = Number(3.7, "x")
PUBLISHED["sc-1/D64-over-D1/most"] = Number(9.1, "x")
PUBLISHED["sc-2/D64-over-D1/least"] = Number(2.4, "x")
PUBLISHED["sc-2/D64-over-D1/most"] = Number(4.8, "x")
# In prn0 D1 takes longer than D64.
PUBLISHED["sc-2/D64-over-D1/prn0"] = Number(1, "x", "<=")
PUBLISHED["sc-3/D64-over-D1/erased-blocks"] = Number(1, "x")
