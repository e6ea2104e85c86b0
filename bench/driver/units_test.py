"""The pure parts of the driver."""
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from driver import charts, figures, growth, months, processor, registry, table, traces
from driver.programs import BenchFailed
from driver.scale import FULL, QUICK
from driver.figures import alone, at_least, at_most, in_turn, percentile, spread_percent, value_at_most, versus

SVG = "{http://www.w3.org/2000/svg}"


class Figures(unittest.TestCase):
    def test_value_and_ratio_are_of_medians(self):
        row = versus("drain", "events/s", [90, 100, 500], "peer", [40, 50, 60]).as_row()
        self.assertEqual((row["value"], row["against_value"], row["ratio"], row["rounds"]), (100, 50, 2.0, 3))

    def test_spread_reaches_from_the_lowest_to_the_highest_round(self):
        self.assertEqual(spread_percent([90, 100, 120]), 30)
        self.assertEqual(spread_percent([7]), 0)
        self.assertIsNone(spread_percent([]))

    def test_a_floor_is_met_from_its_limit_upward(self):
        self.assertTrue(versus("b", "events/s", [330], "peer", [100], at_least(3.3)).met)
        self.assertFalse(versus("b", "events/s", [329], "peer", [100], at_least(3.3)).met)

    def test_a_ceiling_is_met_from_its_limit_downward(self):
        self.assertTrue(versus("b", "ms", [0.7], "peer", [1], at_most(0.7)).met)
        self.assertFalse(versus("b", "ms", [0.71], "peer", [1], at_most(0.7)).met)

    def test_a_goal_for_the_value_needs_no_other_side(self):
        self.assertTrue(alone("memory", "MiB", [64], value_at_most(64)).met)
        self.assertFalse(alone("memory", "MiB", [64.1], value_at_most(64)).met)
        self.assertIsNone(alone("memory", "MiB", [64]).met)

    def test_a_miss_that_rounds_to_the_goal_stays_a_miss(self):
        row = versus("b", "ms", [0.704], "peer", [1], at_most(0.7)).as_row()
        self.assertEqual((row["ratio"], row["met"]), (0.7, False))

    def test_small_values_keep_their_decimals_and_rates_do_not(self):
        self.assertEqual(figures.shown(0.544, "ms"), 0.54)
        self.assertEqual(figures.shown(12345.6, "events/s"), 12346)

    def test_percentile_takes_a_measured_value(self):
        self.assertEqual(percentile(range(1, 21), 0.95), 19)
        self.assertEqual(percentile([3], 0.95), 3)

    def test_sides_run_in_turn(self):
        order = []
        in_turn(2, lambda: order.append("a"), lambda: order.append("b"))
        self.assertEqual(order, ["a", "b", "a", "b"])


class Tables(unittest.TestCase):
    rows = [versus("drain", "events/s", [1000, 1200], "peer", [500, 500], at_least(3)).as_row(),
            alone("memory", "MiB", [31.5], value_at_most(64)).as_row()]

    def test_a_line_says_value_ratio_goal_and_whether_it_is_met(self):
        words = table.line(self.rows[0]).split()
        self.assertEqual(words[:7], ["drain", "1,100", "events/s", "2.20", "≥", "3", "MISSED"])

    def test_the_page_has_one_row_per_figure_and_names_what_could_not_run(self):
        page = table.page(self.rows, [("commit", "abc")], [("http-sink", "wrk is missing")], [("latest.svg", "goals")])
        self.assertIn("| drain | 1,100 | events/s | 2.20 | ≥ 3 | MISSED | peer (500) | 2 |", page)
        self.assertIn("| memory | 31.5 | MiB |  | ≤ 64 | met |", page)
        self.assertIn("http-sink could not run: wrk is missing", page)
        self.assertIn("![goals](latest.svg)", page)
        self.assertIn("| commit | abc |", page)


class PartitionLive(unittest.TestCase):
    def test_the_stall_is_what_the_test_prints(self):
        printed = "4/4 swap\n1200 events, longest publish 140 ms, of a thousand before it 31 ms\n[  PASSED  ] 1 test.\n"
        self.assertEqual(months.longest_publishes(printed), (140, 31))

    def test_a_test_that_skips_is_no_figure(self):
        with self.assertRaises(BenchFailed):
            months.longest_publishes("[  SKIPPED ] 1 test\n")


class Charts(unittest.TestCase):
    chart = charts.Chart("drain & <claims>", "rows kept", "events/s", ["0", "1,000", "5,000"],
                         {"drain": [5, 0, 10], "once": [1, 2, 3], "pinned": [0, 0, 0]})

    def drawn(self, text):
        return ElementTree.fromstring(text)

    def test_a_line_has_as_many_points_as_there_are_values(self):
        for line in self.drawn(charts.line_chart(self.chart)).iter(f"{SVG}polyline"):
            self.assertEqual(len(line.get("points").split()), 3)

    def test_every_series_has_a_line_and_its_name(self):
        drawing = self.drawn(charts.line_chart(self.chart))
        self.assertEqual(len(list(drawing.iter(f"{SVG}polyline"))), 3)
        words = [text.text for text in drawing.iter(f"{SVG}text")]
        for name in ("drain", "once", "pinned", "rows kept", "events/s", "1,000", "drain & <claims>"):
            self.assertIn(name, words)

    def test_higher_values_stand_higher(self):
        line = next(self.drawn(charts.line_chart(self.chart)).iter(f"{SVG}polyline"))
        first, lowest, highest = (float(point.split(",")[1]) for point in line.get("points").split())
        self.assertTrue(highest < first < lowest)

    def test_ticks_are_round_and_reach_the_highest_value(self):
        self.assertEqual(charts.ticks(10), [0, 2, 4, 6, 8, 10])
        self.assertEqual(charts.ticks(0.9), [0, 0.2, 0.4, 0.6, 0.8, 1.0])
        self.assertEqual(charts.ticks(0), [0, 1])
        for highest in (0.013, 7, 99, 146_000, 5_000_001):
            marks = charts.ticks(highest)
            self.assertGreaterEqual(marks[-1], highest)
            self.assertLessEqual(len(marks), 8)

    def test_the_goals_are_bars_whose_full_length_is_reached_in_either_direction(self):
        bars = [bar for bar in self.drawn(charts.goal_chart(Tables.rows)).iter(f"{SVG}rect") if bar.get("class") in ("met", "missed")]
        self.assertEqual([bar.get("class") for bar in bars], ["missed", "met"])
        self.assertAlmostEqual(charts.reached(Tables.rows[0]), 2.2 / 3)
        self.assertAlmostEqual(charts.reached(Tables.rows[1]), 64 / 31.5)

    def test_files_are_written_where_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            done = charts.written(Path(folder) / "results", [("one.svg", self.chart)])
            self.assertEqual(done, [("one.svg", "drain & <claims>")])
            self.drawn((Path(folder) / "results" / "one.svg").read_text())


class Growth(unittest.TestCase):
    rows = [{"sweep": "workers", "x": x, "series": series, "value": value, "unit": unit, "of_first": 1.0}
            for x in (1, 2) for series, value, unit in (("drain", 10 * x, "events/s"), ("claim p50", 1, "ms"), ("claim p99", 2, "ms"))]

    def test_one_chart_per_unit_holds_every_series_of_it(self):
        drawings = dict(growth.drawing("workers", self.rows))
        self.assertEqual(list(drawings), ["growth-workers-events.svg", "growth-workers-ms.svg"])
        self.assertEqual(drawings["growth-workers-events.svg"].series, {"drain": [10, 20]})
        self.assertEqual(drawings["growth-workers-ms.svg"].series, {"claim p50": [1, 1], "claim p99": [2, 2]})


class Processor(unittest.TestCase):
    # pid (name) state parent …, then from the 14th on the ticks: own in the program and in the system, and of ended children.
    lines = [f"{pid} ({name}) S {parent} 1 1 0 -1 4194560 1 1 1 1 {ticks} 20 0 1 0 100"
             for pid, name, parent, ticks in ((7, "postgres", 1, "1 2 30 40"), (8, "a) S 7 (b", 7, "100 200 9 9"), (9, "sh", 8, "5 5 5 5"))]

    def test_a_server_is_its_process_its_children_and_those_that_ended(self):
        self.assertEqual(processor.ticks_of(7, self.lines), 1 + 2 + 30 + 40 + 100 + 200)

    def test_what_a_child_computed_is_counted(self):
        with unittest.mock.patch.object(processor, "server_seconds", return_value=0.0):
            with processor.ProcessorTime() as spent:
                subprocess.run([sys.executable, "-c", "sum(range(10 ** 6))"], check=True)
        self.assertGreater(spent.seconds, 0)
        self.assertEqual(spent.server, 0)


class Traces(unittest.TestCase):
    def test_a_full_run_changes_sides_more_often_and_a_quick_one_is_not_cut(self):
        self.assertEqual(traces.parts(FULL), (12, 50_000))
        self.assertEqual(traces.parts(QUICK), (1, 10_000))

    def test_each_side_has_its_time_and_its_processor_time_against_the_first(self):
        measured = {"traces off": [(100, 5)], "off": [(90, 5)], "on": [(50, 10)]}
        rows = [figure.as_row() for figure in traces.figures("drain", "events/s", measured, at_least(0.95), at_most(1.05))]
        self.assertEqual([(row["bench"], row["ratio"], row["met"]) for row in rows],
                         [("drain (off)", 0.9, False), ("drain, processor (off)", 1.0, True),
                          ("drain (on)", 0.5, None), ("drain, processor (on)", 2.0, None)])
        self.assertEqual({row["against"] for row in rows}, {"traces off"})


class Registry(unittest.TestCase):
    def test_peers_run_when_asked_for(self):
        self.assertNotIn("pg-boss", registry.chosen([]))
        self.assertIn("pg-boss", registry.chosen([], peers=True))
        self.assertEqual(registry.chosen(["pg-boss"]), ["pg-boss"])

    def test_without_npm_nothing_that_needs_it_is_left(self):
        names = registry.chosen([], peers=True, npm=False)
        self.assertNotIn("drain", names)
        self.assertIn("drain-pinned", names)

    def test_every_benchmark_says_in_a_sentence_what_it_does(self):
        for name, bench in registry.BENCHES.items():
            self.assertTrue(bench.summary.endswith("."), name)
            self.assertNotIn("\n", bench.summary, name)


if __name__ == "__main__":
    unittest.main()
