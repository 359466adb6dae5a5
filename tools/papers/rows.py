# SPDX-License-Identifier: GPL-2.0-only
"""A measured number beside the published one."""

WITHIN = 0.25


def row(identity, value, published=None, unit="x", claim=None, why=None):
    """One row of papers.json.

    `identity` is <paper>-<figure>/<series>/<point>. `claim`: what ours is to reach, (">=", 2) or
    ("<=", 1), where that is not the published number itself. `why`: a sentence if they differ.
    """
    within = None if published is None else abs(value - published) <= WITHIN * abs(published)
    reached = None
    if claim:
        reached = value >= claim[1] if claim[0] == ">=" else value <= claim[1]
    return {"id": identity, "value": round(value, 5), "published": published, "unit": unit,
            "within_25_percent": within, "claim": "".join(map(str, claim)) if claim else None,
            "reached": reached, "why": why}
