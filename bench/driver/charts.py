"""SVG charts: text is text, colours follow the reader's light or dark scheme, nothing is needed to draw them."""
import math
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 78, 48, 70, 54

# Ink, grid and paper in both schemes; series differ by marker as well as by colour.
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2933 }
.title { font-size: 15px; font-weight: 600 }
.paper { fill: #ffffff } .grid { stroke: #d5dbe1 } .axis { stroke: #52606d }
.s0 { stroke: #0b5fb3; fill: #0b5fb3 } .s1 { stroke: #b3400b; fill: #b3400b } .s2 { stroke: #2a7a32; fill: #2a7a32 }
polyline.line { fill: none; stroke-width: 2 }
.missed { fill: #b3400b; stroke: none } .met { fill: #2a7a32; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e9ee } .paper { fill: #14181d } .grid { stroke: #37414b } .axis { stroke: #9aa7b4 }
  .s0 { stroke: #6cb2ff; fill: #6cb2ff } .s1 { stroke: #ff9d66; fill: #ff9d66 } .s2 { stroke: #7fd087; fill: #7fd087 }
  .missed { fill: #ff9d66 } .met { fill: #7fd087 }
}
"""


@dataclass(frozen=True)
class Chart:
    """Lines over points that stand at equal distances, however far apart their values are; y starts at zero."""
    title: str
    x_axis: str
    y_axis: str
    labels: list            # one per point
    series: dict            # name → one value per point


def ticks(highest, wanted=5):
    """Round numbers from zero up to at least `highest`."""
    if highest <= 0:
        return [0, 1]
    rough = highest / wanted
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    return [round(step * i, 10) for i in range(math.ceil(highest / step - 1e-9) + 1)]


def text(x, y, words, anchor="start", kind=None, extra=""):
    name = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{name}{extra}>{escape(words)}</text>'


def marker(kind, x, y):
    """A dot, a square or a diamond."""
    if kind == 0:
        return f'<circle class="s0" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if kind == 2 else ""
    return f'<rect class="s{kind}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"{turned}/>'


def document(title, width, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                      f"role=\"img\" aria-label={quoteattr(title)}>", f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
                      f'<rect class="paper" width="{width}" height="{height}"/>', *parts, "</svg>"]) + "\n"


def line_chart(chart):
    marks = ticks(max(value for values in chart.series.values() for value in values))
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(index, value):
        step = across / max(len(chart.labels) - 1, 1)
        return LEFT + index * step, TOP + down * (1 - value / marks[-1])

    parts = [text(LEFT, 26, chart.title, kind="title")]
    for mark in marks:
        _, y = at(0, mark)
        parts += [f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>',
                  text(LEFT - 8, y + 4, f"{mark:,g}", "end")]
    for index, label in enumerate(chart.labels):
        x, y = at(index, 0)
        parts += [f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{y + 5:.1f}"/>', text(x, y + 20, label, "middle")]
    parts += [f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{TOP + down}" y2="{TOP + down}"/>',
              text(LEFT + across / 2, HEIGHT - 12, chart.x_axis, "middle"),
              text(16, TOP + down / 2, chart.y_axis, "middle", extra=f' transform="rotate(-90 16 {TOP + down / 2:.1f})"')]
    legend = LEFT
    for kind, (name, values) in enumerate(chart.series.items()):
        places = [at(index, value) for index, value in enumerate(values)]
        parts.append(f'<polyline class="line s{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        parts += [marker(kind, x, y) for x, y in places]
        parts += [marker(kind, legend + 4, 46), text(legend + 14, 50, name)]
        legend += 40 + 7 * len(name)
    return document(chart.title, WIDTH, HEIGHT, parts)


def goal_chart(rows):
    """How far each goal is reached: 1 is the goal, more is better, also where less is asked for."""
    goals = [row for row in rows if row["goal"]]
    title = "Goals: 1 is just reached, more is better"
    width, names, bar, longest = 820, 440, 22, 3
    height = 56 + bar * len(goals) + 24
    parts = [text(12, 26, title, kind="title")]
    for index, row in enumerate(goals):
        y = 44 + index * bar
        share = reached(row)
        length = min(share, longest) / longest * (width - names - 60)
        parts += [text(names - 8, y + 14, row["bench"][:60], "end"),
                  f'<rect class="{"met" if row["met"] else "missed"}" x="{names}" y="{y + 3}" width="{length:.1f}" height="{bar - 6}"/>',
                  text(names + length + 6, y + 14, f"{share:.2f}")]
    goal_x = names + (width - names - 60) / longest
    parts += [f'<line class="axis" x1="{goal_x:.1f}" x2="{goal_x:.1f}" y1="40" y2="{height - 22}"/>',
              text(goal_x, height - 8, "goal", "middle")]
    return document(title, width, height, parts)


def reached(row):
    """1 where the goal is just met, more where there is room."""
    limit = float(row["goal"].split()[1])
    measured = row["value"] if row["goal_on"] == "value" else row["ratio"]
    if row["goal"].startswith("≤"):
        return limit / measured if measured else limit
    return measured / limit


def written(folder, drawings):
    """[(file, title)] of the charts put into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    done = []
    for file, chart in drawings:
        (folder / file).write_text(line_chart(chart))
        done.append((file, chart.title))
    return done


def draw_goals(rows, folder):
    if not any(row["goal"] for row in rows):
        return []
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "latest.svg").write_text(goal_chart(rows))
    return [("latest.svg", "How far each goal is reached")]
