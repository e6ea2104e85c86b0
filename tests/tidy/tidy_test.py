"""Each check finds what it is there for, leaves alone what is in order, and its list of known problems can only shrink."""
import tempfile
import unittest
from pathlib import Path

import counts
import includes
import lengths
import migrations
import sleeps
import tidy
import words
from tree import Tree


def lines(check, texts, known):
    return [str(problem) for problem in check.problems(Tree(texts), known)]


class Includes(unittest.TestCase):
    def wrong(self, path, include, known=()):
        return lines(includes, {path: f"// Why.\n#include {include}\n"}, known)

    def test_directions(self):
        for path, include in (("src/core/a.cpp", '"store/store.hpp"'), ("src/store/a.hpp", '"store/sqlite/b.hpp"'),
                              ("src/store/sqlite/a.cpp", '"store/postgres/pq.hpp"'), ("src/runtime/a.cpp", '"ops/b.hpp"'),
                              ("src/runtime/a.cpp", '"store/postgres/pq.hpp"'), ("src/ops/a.cpp", '"http/router.hpp"'),
                              ("src/ops/a.cpp", '"runtime/worker.hpp"'), ("src/mcp/a.cpp", '"http/router.hpp"'),
                              ("src/http/a.cpp", '"runtime/worker.hpp"'), ("src/http/a.cpp", '"store/store.hpp"'),
                              ("src/cli/a.cpp", '"store/observe.hpp"'), ("src/mcp/a.hpp", '"store/store.hpp"'),
                              ("src/daemon/a.cpp", '"sink/http/http_sink.hpp"'),
                              ("src/sink/pace.cpp", '"sink/log/log_sink.hpp"'), ("src/new/a.cpp", '"core/status.hpp"')):
            with self.subTest(path=path, include=include):
                found = self.wrong(path, include)
                self.assertEqual(len(found), 1)
                self.assertIn(f"{path}:2: includes {include.strip(chr(34))}, but ", found[0])

    def test_directions_that_are_allowed(self):
        for path, include in (("src/core/a.cpp", '"core/b.hpp"'), ("src/store/sqlite/a.cpp", '"store/store.hpp"'),
                              ("src/store/sqlite/a.cpp", '"sqlite_sql.hpp"'), ("src/runtime/a.cpp", '"telemetry/log.hpp"'),
                              ("src/http/a.cpp", '"runtime/pull_token.hpp"'), ("src/main.cpp", '"store/sqlite/b.hpp"'),
                              ("src/sink/open_sinks.cpp", '"sink/log/log_sink.hpp"'), ("src/core/a.cpp", "<sluice/uuid.hpp>"),
                              ("src/ops/a_test.cpp", '"tests/support/events.hpp"'), ("tests/cli/a.cpp", '"ops/b.hpp"')):
            with self.subTest(path=path, include=include):
                self.assertEqual(self.wrong(path, include), [])

    def test_surfaces_call_no_verb_of_the_store(self):
        for call in ("desk.store.now()", "opened->store->operation(*id)", "(*store)->migrate()", "store_.replay(id)"):
            with self.subTest(call=call):
                self.assertEqual(len(lines(includes, {"src/http/a.cpp": f"auto x = {call};\n"}, ())), 1)
                self.assertEqual(lines(includes, {"src/ops/a.cpp": f"auto x = {call};\n"}, ()), [])
        for fine in ("ops::now(desk.store)", "store.error()", "config->store.display()", "publishing.store(events)"):
            self.assertEqual(lines(includes, {"src/cli/a.cpp": f"auto x = {fine};\n"}, ()), [])

    def test_only_host_asks_the_machine(self):
        for call in ("std::chrono::system_clock::now()", "::getpid()", "::gethostname(a, n)", "std::random_device{}()",
                     "::getrandom(&v, n, 0)", "::getpwuid(id)"):
            with self.subTest(call=call):
                text = f"auto x = {call};\n"
                self.assertIn("asks the machine for ", lines(includes, {"src/library/a.cpp": text}, {})[0])
                for path in ("src/host/a.cpp", "src/ops/a_test.cpp", "tests/cli/a.cpp"):
                    self.assertEqual(lines(includes, {path: text}, {}), [])
        self.assertEqual(lines(includes, {"src/ops/a.cpp": "auto x = std::chrono::steady_clock::now();\n"}, {}), [])

    def test_only_tests_see_tests(self):
        self.assertEqual(len(self.wrong("src/ops/a.cpp", '"tests/support/events.hpp"')), 1)
        self.assertEqual(len(self.wrong("src/ops/a_test.cpp", '"tests/cli/golden.hpp"')), 1)

    def test_third_parties_stay_with_their_adapters(self):
        for path, include in (("src/ops/a.cpp", "<libpq-fe.h>"), ("src/store/postgres/postgres_claim.cpp", "<libpq-fe.h>"),
                              ("src/store/store.hpp", "<sqlite3.h>"), ("src/sink/http/a.cpp", "<curl/curl.h>"),
                              ("src/http/access.cpp", "<openssl/evp.h>"), ("src/http/router.cpp", "<boost/asio/post.hpp>"),
                              ("src/config/config.cpp", "<toml++/toml.h>"), ("src/ops/a.cpp", "<gtest/gtest.h>"),
                              ("src/ops/a.cpp", "<nlohmann/json.hpp>"), ("tests/cli/a.cpp", "<curl/curl.h>")):
            with self.subTest(path=path, include=include):
                self.assertEqual(len(self.wrong(path, include)), 1)
        for path, include in (("src/store/postgres/pq.cpp", "<libpq-fe.h>"), ("examples/a.cpp", "<sqlite3.h>"),
                              ("src/http/session.hpp", "<boost/asio/post.hpp>"), ("src/ops/a_test.cpp", "<gmock/gmock.h>"),
                              ("src/core/a.cpp", "<arpa/inet.h>"), ("src/http_client/a.cpp", "<curl/curl.h>")):
            with self.subTest(path=path, include=include):
                self.assertEqual(self.wrong(path, include), [])

    def test_core_and_public_headers_are_pure(self):
        for path, include in (("src/core/a.cpp", "<unistd.h>"), ("src/core/a.cpp", "<random>"), ("src/core/a.cpp", "<fstream>"),
                              ("include/sluice/a.hpp", "<sys/types.h>"), ("include/sluice/a.hpp", '"core/status.hpp"')):
            with self.subTest(path=path, include=include):
                self.assertEqual(len(self.wrong(path, include)), 1)
        self.assertEqual(self.wrong("src/core/a_test.cpp", "<random>"), [])
        clock = {"src/core/a.cpp": "auto t = std::chrono::system_clock::now();\n"}
        self.assertIn("core reads no clock", lines(includes, clock, {})[0])

    def test_public_headers_are_few(self):
        many = {f"include/sluice/{name}.hpp": "" for name in "abcdefghijkl"}
        self.assertIn("12 public headers", lines(includes, many, {})[0])

    def test_the_list_only_shrinks(self):
        pair = ("src/core/a.cpp", "store/store.hpp")
        self.assertEqual(self.wrong("src/core/a.cpp", '"store/store.hpp"', {pair: "why"}), [])
        self.assertIn("delete the entry", self.wrong("src/core/a.cpp", '"core/b.hpp"', {pair: "why"})[0])
        twice = {"src/core/a.cpp": '#include "store/store.hpp"\n' * 2}
        self.assertEqual(len(lines(includes, twice, {pair: "why"})), 2)


class Lengths(unittest.TestCase):
    BODY = "  step();\n" * 80

    def named(self, path, text):
        return [name for name, _, count in lengths.functions(path, text) if count > lengths.FUNCTION_LINES]

    def test_long_functions_of_each_language(self):
        for path, text, name in (
                ("a.cpp", f"namespace x {{\n\nvoid run(int n) {{\n{self.BODY}}}\n\n}}  // namespace x\n", "run"),
                ("a.cpp", f"A::A(int n) : n_{{n}}, m_(n) {{\n{self.BODY}}}\n", "A::A"),
                ("a.cpp", f"class A {{\n public:\n  int n() const {{\n{self.BODY}  }}\n  B b_{{1}};\n}};\n", "n"),
                ("a.cpp", f"template <typename T>\nstd::vector<T> all() {{\n{self.BODY}}}\n", "all"),
                ("a_test.cpp", f"TEST_F(Many, Steps) {{\n{self.BODY}}}\n", "Many.Steps"),
                ("a.cpp", f'void run() {{\n  say("}}");  // }}\n{self.BODY}}}\n', "run"),
                ("a.py", "class A:\n    def run(self):\n" + "        step()\n" * 80, "run"),
                ("a.sql", f"create or replace function core.run() returns void as $$\nbegin\n{self.BODY}end $$;\n", "core.run")):
            with self.subTest(text=text[:40]):
                self.assertEqual(self.named(path, text), [name])
                self.assertIn(f"{name} has 8", lines(lengths, {path: text}, {})[0])

    def test_what_is_no_long_function(self):
        short = "void step() {\n  go();\n}\n\n"
        members = "  int n() const { return n_; }\n" * 90
        for text in (short * 30, f"namespace x {{\n{short * 30}}}\n", f"struct A {{\n{members}}};\n",
                     "constexpr std::array kAll = {\n" + "    1,\n" * 90 + "};\n"):
            with self.subTest(text=text[:40]):
                self.assertEqual(self.named("a.cpp", text), [])

    def test_long_files(self):
        self.assertEqual(lines(lengths, {"a.mjs": "\n" * 400}, {}), [])
        self.assertIn("a.mjs:1: the file has 401 lines, 400 at most", lines(lengths, {"a.mjs": "\n" * 401}, {})[0])

    def test_the_list_only_shrinks(self):
        self.assertEqual(lines(lengths, {"a.mjs": "\n" * 450}, {"a.mjs": 460}), [])
        self.assertIn("may only shrink", lines(lengths, {"a.mjs": "\n" * 461}, {"a.mjs": 460})[0])
        self.assertIn("delete its entry", lines(lengths, {"a.mjs": "\n" * 399}, {"a.mjs": 460})[0])


class Sleeps(unittest.TestCase):
    def test_every_way_to_sleep(self):
        for path, text in (("tests/a.cpp", "std::this_thread::sleep_for(1ms);"), ("src/ops/a_test.cpp", "usleep(5);"),
                           ("tests/a.cpp", "std::this_thread::sleep_until(then);"), ("tests/a.cpp", "::nanosleep(&t, &t);"),
                           ("tests/a.py", "time.sleep(0.1)"), ("tests/a.py", "await asyncio.sleep(1)"), ("tests/a.py", "sleep(1)"),
                           ("tests/a.mjs", "setTimeout(go, 5)"), ("tests/a.mjs", "page.waitForTimeout(5)"),
                           ("tests/support/script", "  sleep 0.1\n"), ("tests/a.cpp", 'sql("select pg_sleep(1)");')):
            with self.subTest(text=text):
                found = lines(sleeps, {path: "// Why.\n" + text}, {})
                self.assertEqual(len(found), 1)
                self.assertTrue(found[0].startswith(f"{path}:2: "))

    def test_what_is_no_sleep(self):
        for path, text in (("src/runtime/a_test.cpp", "bell.sleep(stop, 1ms);"),
                           ("src/store/a.cpp", "std::this_thread::sleep_for(1ms);"), ("tests/a.cpp", 'shell("sleep 300");')):
            with self.subTest(text=text):
                self.assertEqual(lines(sleeps, {path: text}, {}), [])

    def test_the_list_only_shrinks(self):
        two = {"tests/a.py": "time.sleep(1)\n" * 2}
        self.assertEqual(lines(sleeps, two, {"tests/a.py": (2, "why")}), [])
        self.assertEqual(len(lines(sleeps, two, {"tests/a.py": (1, "why")})), 2)
        self.assertIn("lower it to 2", lines(sleeps, two, {"tests/a.py": (3, "why")})[0])


class Words(unittest.TestCase):
    SAMPLES = {
        "cluster": "the failure_clusters", "failure class": "the failure class", "kind of error": "a kind of failure",
        "ring": "an insert rings", "sleeper": "for sleepers", "look": "after a look", "cycle": "of this cycle",
        "exhausted": "one.exhausted", "give up": "events that give up", "waits since": "it waits since noon",
        "Ear": "set_ear(PostgresEar{})", "Baton": "batons_", "Courier": "CourierHooks", "VainLooks": "vain_looks_",
        "Desk": "PullDesk pull_desk", "Manager": "class StoreManager", "Helper": "ClaimHelper", "Util": "StringUtils",
        "Common": "StoreCommon",
    }

    def test_every_word_is_found(self):
        for name, text in self.SAMPLES.items():
            with self.subTest(name=name):
                found = lines(words, {"src/x/a.cpp": "// Why.\n" + text}, {})
                self.assertTrue(found)
                self.assertTrue(found[0].startswith("src/x/a.cpp:2: `"))
        self.assertEqual(set(self.SAMPLES) | {"retry_after"}, {word.name for word in words.WORDS})

    def test_what_a_person_reads(self):
        self.assertEqual(len(lines(words, {"docs/a.md": "the retry_after of it"}, {})), 1)
        self.assertEqual(lines(words, {"docs/a.md": "the `retry_after` of it"}, {}), [])
        self.assertEqual(len(lines(words, {"src/cli/a.cpp": '{"retry_after", at}'}, {})), 1)
        self.assertEqual(lines(words, {"src/store/a.cpp": "row.retry_after"}, {}), [])

    def test_words_that_only_look_alike(self):
        for text in ("list_failure_clusters", "another database of this cluster", "a string, doing, brings, orange",
                     "earlier, clear, Early", "ErrorCode::exhausted", "look at it", '"cycle": 1', "lifecycle", "desktop",
                     "utilisation", "in common", "a linear year"):
            with self.subTest(text=text):
                self.assertEqual(lines(words, {"src/x/a.cpp": text}, {}), [])
        self.assertEqual(lines(words, {"docs/how-to/quiet-doorbell.md": "a publish rings"}, {}), [])

    def test_every_phrase_is_found_where_it_wraps(self):
        for phrase in words.PHRASES:
            with self.subTest(phrase=phrase):
                wrapped = "x\n// " + phrase.capitalize().replace(" ", "\n// ", 1)
                found = lines(words, {"src/x/a.hpp": wrapped}, {})
                self.assertTrue(any(f"src/x/a.hpp:2: `{phrase}`" in line for line in found), found)

    def test_the_list_only_shrinks(self):
        two = {"src/x/a.cpp": "desk desk"}
        self.assertEqual(lines(words, two, words.read_known("# Why.\nsrc/x/a.cpp 2 Desk\n")), [])
        self.assertEqual(len(lines(words, two, {("Desk", "src/x/a.cpp"): 1})), 2)
        self.assertIn("lower it to 2", lines(words, two, {("Desk", "src/x/a.cpp"): 3})[0])
        self.assertIn("delete the entry", lines(words, {}, {("Desk", "src/x/a.cpp"): 3})[0])

    def test_shrinking_lowers_and_never_adds(self):
        before = "# Why.\nsrc/a.cpp 3 Desk\nsrc/b.cpp 1 Desk\nsrc/c.cpp 1 Desk\n"
        tree = Tree({"src/a.cpp": "desk", "src/c.cpp": "desk desk", "src/d.cpp": "desk"})
        self.assertEqual(words.shrunk(before, tree), "# Why.\nsrc/a.cpp 1 Desk\nsrc/c.cpp 1 Desk\n")


class Migrations(unittest.TestCase):
    PATH = "src/store/sqlite/sql/migration/0001_tables.sql"
    NEXT = "src/store/sqlite/sql/migration/0002_rules.sql"

    def frozen(self, texts, before="", again=False):
        return migrations.read_frozen(migrations.freeze(Tree(texts), migrations.read_frozen(before), again))

    def test_one_that_has_landed_never_changes(self):
        frozen = self.frozen({self.PATH: "create table a;\n"})
        self.assertEqual(lines(migrations, {self.PATH: "create table a;\n"}, frozen), [])
        self.assertIn("migrations never change once landed: add a new one",
                      lines(migrations, {self.PATH: "create table a; -- better\n"}, frozen)[0])
        self.assertIn("is gone, but migrations never change", lines(migrations, {}, frozen)[0])

    def test_a_new_one_is_frozen_on_purpose(self):
        frozen = self.frozen({self.PATH: "a"})
        self.assertIn("is new: freeze it", lines(migrations, {self.PATH: "a", self.NEXT: "b"}, frozen)[0])

    def test_freezing_adds_and_does_not_forgive(self):
        before = migrations.freeze(Tree({self.PATH: "a"}), {})
        changed = {self.PATH: "changed", self.NEXT: "b"}
        self.assertEqual(len(lines(migrations, changed, self.frozen(changed, before))), 1)
        self.assertEqual(lines(migrations, changed, self.frozen(changed, before, again=True)), [])

    def test_only_migrations_are_frozen(self):
        texts = {"src/store/sqlite/sql/query/now.sql": "a", "tests/data/runbook.sql": "b"}
        self.assertEqual(self.frozen(texts), {})


class Counts(unittest.TestCase):
    FACTS = {"findings": 30, "commands": 61, "tools": 10, "metrics": 56, "guards": 113, "states": 4, "public headers": 10,
             "version on PostgreSQL": 12, "version on SQLite": 2, **{f"guards: {name}": 7 for name in counts.GUARDS}}
    RIGHT = ("30 findings", "61 commands", "ten tools", "fifty-six metrics", "twelve migrations", "113 guards", "four states",
             "Ten headers in `include/sluice/`", "Schema versions: 12 on\n  PostgreSQL, 2 on SQLite",
             "the schema is at version 2", "| fences (7) | a token |", "these two commands", "three tools of them")
    WRONG = ("31 findings", "1,061 commands", "nine tools", "fifty metrics", "eight migrations", "103 guards", "five states",
             "Eleven headers in `include/sluice/`", "Schema version: 8 on PostgreSQL",
             "Schema versions: 12 on PostgreSQL, 3 on SQLite", "the schema is at version 7", "| fences (6) | a token |")

    def test_numbers(self):
        for text in self.RIGHT:
            with self.subTest(text=text):
                self.assertEqual(lines(counts, {"docs/a.md": text}, self.FACTS), [])
        for text in self.WRONG:
            with self.subTest(text=text):
                found = lines(counts, {"docs/a.md": "# Page\n" + text}, self.FACTS)
                self.assertEqual(len(found), 1)
                self.assertTrue(found[0].startswith("docs/a.md:2: `"))

    def test_facts_come_from_the_sources(self):
        files = {
            "src/ops/doctor.hpp": 'std::array<std::string_view, 2> kFindingNames{\n    "a", "b"};',
            "src/core/status.hpp": "enum class Status { a, b, c };",
            "src/store/postgres/sql/migration/0003_x.sql": "", "src/store/sqlite/sql/migration/0002_x.sql": "",
            "include/sluice/a.hpp": "", "tests/golden/metric_names.txt": "a counter\nb gauge\n",
            "tests/golden/mcp_tools.json": '[{"name": "a"}]',
            "tests/golden/cli/sluice.txt": "", "tests/golden/cli/db.txt": "", "tests/golden/cli/db_sql.txt": "",
            "tests/golden/cli/tail.txt": "",
            "tests/mutants/table.py": "".join(f"{name} = [1, 2]\n" for name in counts.GUARDS.values()) + "MUTANTS = [1, 2, 3]\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, path).write_text(text)
            self.assertEqual(counts.facts(folder), {
                "findings": 2, "states": 3, "commands": 2, "tools": 1, "metrics": 2, "public headers": 1,
                "version on PostgreSQL": 3, "version on SQLite": 2, "guards": 3,
                **{f"guards: {name}": 2 for name in counts.GUARDS}})


class Whole(unittest.TestCase):
    def test_the_tree_is_read(self):
        tree = Tree.of(tidy.ROOT)
        for path in ("README.md", "src/main.cpp", "include/sluice/result.hpp", "tests/support/with-postgres", "docs/README.md"):
            self.assertIn(path, tree.texts)
        self.assertFalse([path for path in tree.texts if path.startswith(("build/", "console/bundle/", "tests/tidy/"))])

    def test_every_check_is_asked(self):
        bad = {"src/core/a.cpp": '#include "ops/b.hpp"\n' + "\n" * 400, "tests/a.py": "time.sleep(1)",
               "docs/a.md": "a desk, 7 states"}
        found = "\n".join(str(problem) for problem in tidy.problems(Tree(bad)))
        for expected in ("src/core/a.cpp:1: includes", "src/core/a.cpp:1: the file", "tests/a.py:1: `time.sleep(`",
                         "docs/a.md:1: `desk`", "docs/a.md:1: `7 states`"):
            self.assertIn(expected, found)


if __name__ == "__main__":
    unittest.main()
