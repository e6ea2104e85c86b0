"""Who may include whom. CONTRIBUTING.md draws it; here it is a table, and the tree is compared with it."""
import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from tree import CODE, Problem, is_test, line_of, unknown

LISTED_IN = "tests/tidy/known.py"
MOST_PUBLIC_HEADERS = 11

# What the whole house stands on. The public headers are part of it: everybody may include <sluice/…>.
GROUND = {"core", "crypto", "host", "telemetry"}
# A unit is a folder, or the files of a folder whose names begin so and that are a target of their own.
ALLOWED = {
    "core/": set(),
    "crypto/": set(),
    "host/": {"core"},
    "http_client/": {"core"},
    "telemetry/": {"core", "host"},
    "otlp/": {"core", "host", "http_client", "telemetry"},
    "config/": {"core", "crypto"},
    # Seams, and the adapters behind them.
    "store/": {"core"},
    "store/postgres/": {"core", "host", "store"},
    "store/sqlite/": {"core", "host", "store"},
    "broker/": {"core"},
    "broker/nats/": {"broker", "core"},
    "broker/redis/": {"broker", "core"},
    "broker/open_broker": {"broker", "broker/nats", "broker/redis", "core"},
    "sink/": {"core", "host"},
    "sink/broker/": {"broker", "core", "host", "sink", "telemetry"},
    "sink/exec/": {"core", "host", "sink"},
    "sink/http/": {"core", "crypto", "host", "http_client", "sink"},
    "sink/log/": {"core", "host", "sink", "telemetry"},
    "sink/open_sinks": {"broker/open_broker", "broker", "config", "core", "host", "sink", "sink/broker", "sink/exec", "sink/http",
                        "sink/log", "telemetry"},
    "alert/": {"core"},
    "alert/http/": {"alert", "core", "host", "http_client"},
    # Neither sees an adapter, nor the other.
    "runtime/": GROUND | {"alert", "broker", "sink", "store"},
    "runtime/pull_": GROUND | {"runtime", "store"},
    "ops/": GROUND | {"broker", "store"},
    # Surfaces see a store only as something to hand to ops. Two of them carry MCP.
    "mcp/": GROUND | {"ops"},
    "cli/": GROUND | {"alert", "broker", "config", "mcp", "ops"},
    "http/": GROUND | {"config", "http_client", "mcp", "ops", "runtime/pull_", "sink"},
    "daemon/": GROUND | {"alert", "broker", "config", "http", "ops", "runtime", "runtime/pull_", "sink", "store"},
    # The public library composes itself: it opens the stores that a URL names.
    "library/": GROUND | {"broker", "broker/open_broker", "config", "runtime", "store", "store/postgres", "store/sqlite"},
}
SURFACES = ("src/mcp/", "src/cli/", "src/http/")
# `store.replay(`, `opened->store->now(`; what a Result or a pointer named so can do is no verb of the seam.
SEAM_CALL = re.compile(r"(?<!config\.)(?<!config->)\bstore_?\)?(?:\.|->)(?!error\b|get\b|has_value\b|reset\b)(\w+)\(")
ROOT = "src/main.cpp"  # the composition root sees all

# Header by its beginning, and the files that may see it. Tests, benchmarks and examples are users of the databases.
USERS = ("tests/*", "bench/*", "examples/*")
THIRD_PARTY = {
    "libpq-fe.h": ("src/store/postgres/pq*.cpp", *USERS),
    "sqlite3.h": ("src/store/sqlite/*", *USERS),
    "nats/": ("src/broker/nats/*", "bench/*"),
    "hiredis/": ("src/broker/redis/*", "bench/*"),
    "curl/": ("src/http_client/*",),
    "openssl/": ("src/crypto/*",),
    "zlib.h": ("src/http_client/gzip.cpp", "src/http/gzip_test.cpp"),
    "boost/": ("src/http/server.cpp", "src/http/session.?pp"),
    "toml++/": ("src/config/config_file.cpp",),
    "gtest/": ("*_test.cpp", "*_fixture.hpp", "tests/*"),
    "gmock/": ("*_test.cpp", "*_fixture.hpp", "tests/*"),
}
SYSTEM = re.compile(r"(?:sys|netinet|arpa)/\w+\.h|(?:cxxabi|dlfcn|fcntl|netdb|poll|pwd|signal|spawn|sysexits|unistd)\.h")
STANDARD = re.compile(r"[a-z_]+")

# Reads and writes the text of addresses, and nothing else: standard library for core.
PURE_SYSTEM = {"arpa/inet.h"}
# Core decides; it neither reads nor waits nor draws.
IMPURE = re.compile(r"condition_variable|filesystem|fstream|future|iostream|mutex|random|thread")
CLOCK = re.compile(r"_clock::now\b")
# What the machine knows is asked for in one folder, so that a test can decide it. Waits are measured by the steady clock.
MACHINE = {
    "the time": (re.compile(r"system_clock::now\b|\bCLOCK_REALTIME\b|\bgettimeofday\(|\btime\((?:nullptr|NULL|0)\)"), "host::wall_clock()"),
    "random bytes": (re.compile(r"\brandom_device\b|\bget(?:random|entropy)\(|\barc4random"), "host/entropy.hpp"),
    "who this process is": (re.compile(r"\bget(?:pid|hostname|pwuid)\("), "host/identity.hpp"),
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)', re.MULTILINE)


def unit_of(path):
    """What a path below src/ belongs to: the longest beginning in the table."""
    return max((unit for unit in ALLOWED if path.startswith(unit)), key=len, default=None)


def wrong_direction(path, header):
    """What is wrong with the inclusion of an own header, or None."""
    if header.startswith("tests/"):
        allowed = is_test(path) and header.startswith("tests/support/")
        return None if allowed else "only tests may include from tests/, and only tests/support: move it there"
    own, other = unit_of(path.removeprefix("src/")), unit_of(header)
    if own is None:
        return "its folder is not in the table: add what it may include to tests/tidy/includes.py"
    if other is None or other == own or other.rstrip("/") in ALLOWED[own]:  # None: made by the build, of the same target
        return None
    allowed = ", ".join(sorted(ALLOWED[own])) or "nothing of ours"
    return f"{own.rstrip('/')} may include {allowed}: move the code, or pass it in by a seam"


def wrong_third_party(path, header):
    if STANDARD.fullmatch(header) or header.startswith("sluice/") or SYSTEM.fullmatch(header):
        return None
    for start, places in THIRD_PARTY.items():
        if header.startswith(start):
            seen = any(fnmatchcase(path, place) for place in places)
            return None if seen else f"only {', '.join(places)} may see it: go through its adapter"
    return "no adapter is known for it: add it to THIRD_PARTY in tests/tidy/includes.py"


def wrong_purity(path, header):
    public = path.startswith("include/")
    if public and not (header.startswith("sluice/") or STANDARD.fullmatch(header)):
        return "a public header includes the standard library and sluice/ only"
    if not path.startswith("src/core/") or is_test(path):
        return None
    if not (header.startswith("sluice/") or STANDARD.fullmatch(header) or header in PURE_SYSTEM):
        return "core includes the standard library only"
    return "core has no I/O, no clock, no randomness: pass the value in" if IMPURE.fullmatch(header) else None


def complaint(path, bracket, header):
    if bracket == '"' and path.startswith("include/"):
        return "a public header includes <sluice/…>, in angle brackets"
    if bracket == '"':
        return wrong_direction(path, header) if path.startswith("src/") and path != ROOT else None
    return wrong_purity(path, header) or wrong_third_party(path, header)


def problems(tree, known):
    """`known`: (file, header) and why it is still so."""
    found = {}
    for path, text in tree.ending(*CODE):
        for match in INCLUDE.finditer(text):
            if wrong := complaint(path, *match.groups()):
                problem = Problem(path, line_of(text, match.start()), f"includes {match.group(2)}, but {wrong}")
                found.setdefault((path, match.group(2)), []).append(problem)
        if path.startswith("src/core/") and not is_test(path):
            for match in CLOCK.finditer(text):
                yield Problem(path, line_of(text, match.start()), "core reads no clock: take `now` as an argument")
        yield from _machine(path, text)
        if path.startswith(SURFACES) and not is_test(path):
            for match in SEAM_CALL.finditer(text):
                verb = match.group(1)
                yield Problem(path, line_of(text, match.start()), f"calls {verb} of the store: surfaces call a use case of ops")
    yield from unknown(found, dict.fromkeys(known, 1), LISTED_IN)
    yield from _too_many_public(tree)


def _machine(path, text):
    if not path.startswith("src/") or path.startswith(("src/host/", "src/core/")) or is_test(path):
        return
    for what, (pattern, instead) in MACHINE.items():
        for match in pattern.finditer(text):
            yield Problem(path, line_of(text, match.start()), f"asks the machine for {what}: only host/ does, take {instead}")


def _too_many_public(tree):
    public = [path for path, _ in tree.ending(".hpp") if PurePosixPath(path).parent.as_posix() == "include/sluice"]
    if len(public) > MOST_PUBLIC_HEADERS:
        yield Problem(public[-1], 1, f"{len(public)} public headers, {MOST_PUBLIC_HEADERS} at most: join two")
