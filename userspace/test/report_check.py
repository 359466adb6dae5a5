#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""report_check.py xml FILE...: is each of them SVG with something drawn in it?
report_check.py image FILE: has the picture of the page the bars and both lines of its charts?

Prints what is wrong; nothing if all is well.
"""
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
COLOURS = {"bars and first lines": (0x1F, 0x5F, 0xA8), "second lines": (0xC4, 0x50, 0x1B)}
LEAST = 200  # pixels of each colour


def check_xml(path):
    """The file is SVG, and has something to show besides axes."""
    root = tree.parse(path).getroot()
    drawn = [
        element
        for kind in ("polyline", "circle")
        for element in root.iter(SVG + kind)
        if kind == "circle" or element.get("points", "").strip()
    ]
    bars = [rect for rect in root.iter(SVG + "rect") if rect.get("fill", "").startswith("#")]
    if root.tag != SVG + "svg" or not (drawn or len(bars) > 2):
        print(f"{path} shows nothing")


def check_image(path):
    """The picture has pixels of the colours that the charts are drawn in."""
    # Only here: it takes a second, and this is the only check that needs it.
    from matplotlib import image

    pixels = (image.imread(path)[:, :, :3] * 255).round().astype(int)
    for name, colour in COLOURS.items():
        count = int((abs(pixels - colour).max(axis=2) <= 8).sum())
        if count < LEAST:
            print(f"{path} has only {count} pixels of the {name}")


def main():
    """Command line."""
    kind, paths = sys.argv[1], sys.argv[2:]
    for path in paths:
        try:
            (check_xml if kind == "xml" else check_image)(path)
        except (OSError, tree.ParseError) as error:
            print(f"{path}: {error}")


if __name__ == "__main__":
    main()
