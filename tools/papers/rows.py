# SPDX-License-Identifier: GPL-2.0-only
"""A row of papers.json: a measured number beside the published one, and what that makes of it."""

from published import PUBLISHED

WITHIN = 0.25
PASSED, WITHIN_25, DIFFERS, NOT_MEASURED = "passed", "within 25 %", "differs", "not measured"


def is_reached(value, claim, than):
    """Whether a value is at least, or at most, as large."""
    return value >= than if claim == ">=" else value <= than


def verdict(value, number):
    """Of a value beside a published number, which may be 0.

    Of a gain what it is above 1: no gain at all is not within a quarter of 1.20.
    """
    if number is None:
        return None
    if value is None:
        return NOT_MEASURED
    of = number.value - 1 if number.is_gain else number.value
    if abs(value - number.value) <= WITHIN * abs(of):
        return WITHIN_25
    return PASSED if number.claim and is_reached(value, number.claim, number.value) else DIFFERS


def row(identity, value, unit="x", claim=None, why=None, runs=()):
    """One row.

    `identity` is <paper>-<figure>/<series>/<point>: what published.py has by that name is beside
    it. `claim`: what is to be reached where nothing is published, (">=", 2) or ("<=", 1). `why`: a
    sentence for when it differs; beside no value, why a run has none, which differs as well.
    `runs`: of which the value comes, if not of all of the figure.
    """
    number = PUBLISHED.get(identity)
    found = verdict(value, number)
    if value is None and why:
        found = DIFFERS
    if number and number.claim:
        claim = number.claim, number.value
    entry = {"id": identity, "value": None if value is None else round(value, 5),
             "published": number and number.value, "unit": number.unit if number else unit,
             "within_25_percent": None if found in (None, NOT_MEASURED) else found == WITHIN_25,
             "verdict": found, "claim": "".join(map(str, claim)) if claim else None,
             "reached": is_reached(value, *claim) if claim and value is not None else None,
             "why": why}
    if runs:
        entry["runs"] = [run.name for run in runs]
    return entry


def missing_rows(rows):
    """One for each published number that none of these rows has."""
    there = {entry["id"] for entry in rows}
    return [row(identity, None) for identity in PUBLISHED if identity not in there]
