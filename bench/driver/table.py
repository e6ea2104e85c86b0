"""Figures as text: a table for the terminal, a page for bench/results."""

MET = {True: "met", False: "MISSED", None: ""}


def number(value):
    return "" if value is None else f"{value:,}"


def against(row):
    if row["against"] is None:
        return row.get("note") or ""
    return f"{row['against']} ({number(row['against_value'])})"


def spread(row):
    """Of both sides, where there are two; nothing for a single round."""
    if row["rounds"] < 2:
        return ""
    other = row["against_spread_percent"]
    return f"±{row['spread_percent']} %" + ("" if other is None else f", theirs ±{other} %")


def heading():
    return f"{'bench':62} {'value':>10} {'unit':12} {'ratio':>6} {'goal':>7} {'':6}  against"


def line(row):
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
    text = (f"{row['bench']:62} {number(row['value']):>10} {row['unit']:12} {ratio:>6} {row['goal'] or '':>7} {MET[row['met']]:6}  "
            f"{against(row)}")
    return f"{text}  {spread(row)}".rstrip()


def page(rows, machine, failures, charts):
    """bench/results/latest.md"""
    lines = ["# Results of ./run bench", "",
             "Medians; what counts is the ratio, because both sides ran in turn on the same server. The spread is the distance "
             "between the lowest and the highest round, in percent of the median.", "",
             "| bench | value | unit | ratio | goal | | against | rounds | spread |", "|---|--:|---|--:|--:|---|---|--:|---|"]
    for row in rows:
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        lines.append(f"| {row['bench']} | {number(row['value'])} | {row['unit']} | {ratio} | {row['goal'] or ''} | {MET[row['met']]} | "
                     f"{against(row)} | {row['rounds']} | {spread(row)} |")
    lines += [""] + [f"{name} could not run: {why}" for name, why in failures]
    lines += [f"![{title}]({file})" for file, title in charts]
    lines += ["", "| machine | |", "|---|---|"] + [f"| {name} | {value} |" for name, value in machine]
    return "\n".join(lines) + "\n"
