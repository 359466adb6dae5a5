# SPDX-License-Identifier: GPL-2.0-only
"""The chart of the applications: bare seconds over those with ressd, beside the best f2fs."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WIDTH = 0.8


def panel(axes, profiles, names, found):
    """Bars of some drives: one group for each load, a mark where f2fs on the bare drive is."""
    width = WIDTH / len(profiles)
    for number, profile in enumerate(profiles):
        shift = (number - (len(profiles) - 1) / 2) * width
        own = [(place, found[name, profile]) for place, name in enumerate(names)
               if (name, profile) in found and found[name, profile].ratio()]
        bars = axes.bar([place + shift for place, _ in own], [load.ratio() for _, load in own],
                        width, label=profile)
        axes.bar_label(bars, [f"{load.ratio():.2g}" for _, load in own], fontsize=6, rotation=90,
                       padding=2)
        rivals = [(place + shift, load.ratio(load.best_rival())) for place, load in own
                  if load.best_rival()]
        axes.plot([place for place, _ in rivals], [ratio for _, ratio in rivals], "k_",
                  markersize=6, label="best f2fs, bare drive" if number == 0 and rivals else None)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.margins(y=0.15)
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set_ylabel("times ext4 on the bare drive")
    axes.legend(fontsize=7, ncols=len(profiles) + 1, loc="upper left")


def chart(loads, groups, path):
    """Write it; None if no load was measured on both sides. @groups: drives of each panel."""
    found = {(load.name, load.profile): load for load in loads if load.ratio()}
    names = list(dict.fromkeys(load.name for load in loads if load.ratio()))
    shown = [[profile for profile in group if any(key[1] == profile for key in found)]
             for group in groups]
    shown = [group for group in shown if group]
    if not shown:
        return None
    figure, panels = plt.subplots(len(shown), squeeze=False, figsize=(12, 3.5 * len(shown)))
    for axes, profiles in zip(panels[:, 0], shown, strict=True):
        panel(axes, profiles, names, found)
    panels[0, 0].set_title("Applications on ext4 over ressd, unmounted, written back and flushed; "
                           "more is better", fontsize=10)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
