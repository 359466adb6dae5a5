#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""report_check.py xml FILE...: is each of them SVG with something drawn in it?
report_check.py json FILE: does the result have the points of all charts?
report_check.py page FILE RESULT: does the page have verdict, warnings and commands of it?
report_check.py image FILE: has the picture of the page the bars and both lines of its charts?

Prints what is wrong; nothing if all is well.
"""
import html
import json
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
COLOURS = {"bars and first lines": (0x1F, 0x5F, 0xA8), "second lines": (0xC4, 0x50, 0x1B)}
LEAST = 200  # pixels of each colour
SERIES = ["page", "block-sequential", "block-random", "modes", "read-first", "read-again",
          "write-full", "write-empty"]


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


def check_json(path):
    """Each series has as many places as values."""
    with open(path, encoding="utf-8") as file:
        charts = json.load(file)["charts"]
    if [series["name"] for series in charts] != SERIES:
        print(f"{path} has other series: {[series['name'] for series in charts]}")
    for series in charts:
        if not series["x"] or len(series["x"]) != len(series["y"]) or min(series["y"]) <= 0:
            print(f"{path}: the points of {series['name']} are {series['x']}, {series['y']}")


def check_page(path, result):
    """The page says what the result says, and has commands only if that suggests a device."""
    with open(path, encoding="utf-8") as file:
        page = html.unescape(file.read())
    with open(result, encoding="utf-8") as file:
        found = json.load(file)
    for text in [found["verdict"]["reason"], *found["warnings"]]:
        if text not in page:
            print(f"{path} does not say: {text}")
    if not found["warnings"]:
        print(f"{result} does not warn of measuring a file")
    if ("ressdctl open" in page) != ("suggestion" in found):
        print(f"{path} has commands where {result} suggests none, or none where it does")


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
    calls = [(path,) for path in paths] if kind != "page" else [paths]
    check = {"xml": check_xml, "json": check_json, "page": check_page, "image": check_image}[kind]
    for call in calls:
        try:
            check(*call)
        except (OSError, KeyError, ValueError, tree.ParseError) as error:
            print(f"{call[0]}: {error}")


if __name__ == "__main__":
    main()
