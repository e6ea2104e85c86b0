"""draw.py RECORDED PICTURE [--check]: draws a recorded trace as an SVG, a row per span. `--check`: the picture is up to date."""
import argparse
import json
import sys
from html import escape
from pathlib import Path

WIDTH, ROW, LEFT, TOP, RIGHT = 960, 26, 300, 56, 90
KINDS = {1: "internal", 3: "client", 4: "producer", 5: "consumer"}
STYLE = """
  text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2937; }
  .faint { fill: #6b7280; }
  .title { font-weight: 600; font-size: 14px; }
  .grid { stroke: #e5e7eb; }
  .producer { fill: #7c3aed; } .consumer { fill: #2563eb; } .client { fill: #0d9488; } .internal { fill: #6b7280; }
  .failed { fill: #dc2626; }
  .link { stroke: #9ca3af; stroke-dasharray: 3 3; fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb; } .faint { fill: #9ca3af; } .grid { stroke: #374151; }
    .producer { fill: #a78bfa; } .consumer { fill: #60a5fa; } .client { fill: #2dd4bf; } .failed { fill: #f87171; }
  }
"""


def in_order(spans):
    """(span, depth): each below its parent, by time."""
    known = {span["spanId"] for span in spans}
    children = {}
    for span in spans:
        parent = span.get("parentSpanId")
        children.setdefault(parent if parent in known else None, []).append(span)

    def below(parent, depth):
        for span in sorted(children.get(parent, []), key=lambda each: int(each["startTimeUnixNano"])):
            yield span, depth
            yield from below(span["spanId"], depth + 1)

    return list(below(None, 0))


def note(span):
    attributes = span["attributes"]
    if span["name"].startswith("POST"):
        return str(attributes.get("http.response.status_code", ""))
    if "sluice.attempt" in attributes:
        return f"attempt {attributes['sluice.attempt']}, {attributes['sluice.outcome']}"
    return ""


def drawn(spans):
    rows = in_order(spans)
    begin = min(int(span["startTimeUnixNano"]) for span in spans)
    length = max(int(span["endTimeUnixNano"]) for span in spans) - begin
    scale = (WIDTH - LEFT - RIGHT) / length
    height = TOP + ROW * len(rows) + 20
    at = {span["spanId"]: TOP + ROW * number for number, (span, _) in enumerate(rows)}
    left = {span["spanId"]: LEFT + (int(span["startTimeUnixNano"]) - begin) * scale for span, _ in rows}
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="t">',
           f"<style>{STYLE}</style>",
           f'<text id="t" class="title" x="16" y="24">Trace {escape(spans[0]["traceId"])}: {length / 1e6:.1f} ms</text>']
    for part in range(5):
        x = LEFT + (WIDTH - LEFT - RIGHT) * part / 4
        out.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{height - 16}"/>')
        out.append(f'<text class="faint" x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{length / 1e6 * part / 4:.0f} ms</text>')
    for span, depth in rows:
        y, x = at[span["spanId"]], left[span["spanId"]]
        wide = max(3.0, (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) * scale)
        look = "failed" if span.get("status", {}).get("code") == 2 else KINDS[span["kind"]]
        out.append(f'<text x="{16 + 14 * depth}" y="{y + 13}">{escape(span["name"])} <tspan class="faint">{KINDS[span["kind"]]}</tspan></text>')
        out.append(f'<rect class="{look}" x="{x:.1f}" y="{y + 2}" width="{wide:.1f}" height="14" rx="2"/>')
        out.append(f'<text class="faint" x="{x + wide + 6:.1f}" y="{y + 13}">{escape(note(span))}</text>')
        for link in span.get("links", []):
            if link["spanId"] in at:
                out.append(f'<path class="link" d="M {x:.1f} {y + 9} H {left[link["spanId"]] - 5:.1f} V {at[link["spanId"]] + 9} h 5"/>')
    return "\n".join([*out, "</svg>", ""])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("recorded", type=Path)
    arguments.add_argument("picture", type=Path)
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    picture = drawn(json.loads(given.recorded.read_text()))
    if not given.check:
        given.picture.write_text(picture)
    elif given.picture.read_text() != picture:
        sys.exit(f"{given.picture} is stale: run draw.py without --check")


main()
