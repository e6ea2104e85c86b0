"""conformance_test.py SLUICE: the public conformance suite of the protocol against POST /mcp. Every server scenario of the suite is
either run here or named with the reason why it does not apply; one that neither list knows fails the test."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))
sys.path.insert(0, str(HERE.parent / "support"))
import node_program
from serving import Serving, expect

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"

# Scenario -> revisions, and the checks of it that cannot pass here, each with its reason.
NO_CAPABILITY = "no tool here needs a capability of the client"
NO_PROMPTS, NO_RESOURCES = "there are no prompts", "there are no resources"
NO_STREAMS = "every answer is one JSON document; there are no streams"
NO_LOGS = "the server sends no log messages"
APPLIES = {
    "server-initialize": ((HANDSHAKE,), {}),
    "server-session-lifecycle": ((HANDSHAKE,), {}),
    "ping": ((HANDSHAKE,), {}),
    "tools-list": ((HANDSHAKE, STATELESS), {}),
    "dns-rebinding-protection": ((HANDSHAKE, STATELESS), {}),
    "server-stateless": ((STATELESS,), {
        "sep-2575-server-rejects-undeclared-capability": NO_CAPABILITY,
        "sep-2575-missing-capability-http-400": NO_CAPABILITY,
        "sep-2575-http-server-no-independent-requests-on-stream": NO_STREAMS,
        "sep-2575-server-no-log-without-loglevel": NO_LOGS,
    }),
    "http-header-validation": ((STATELESS,), {}),
    "caching": ((STATELESS,), {
        "sep-2549-prompts-list-caching-hints": NO_PROMPTS,
        "sep-2549-resources-list-caching-hints": NO_RESOURCES,
        "sep-2549-resources-templates-list-caching-hints": NO_RESOURCES,
    }),
}

# Pattern of scenarios -> why they do not apply.
DOES_NOT_APPLY = {
    r"resources-.*|sep-2164-resource-not-found": NO_RESOURCES,
    r"prompts-.*": NO_PROMPTS,
    r"completion-complete": "there is nothing to complete: no prompts and no resource templates",
    r"logging-set-level|tools-call-with-logging": NO_LOGS,
    r"tools-call-(simple-text|image|audio|embedded-resource|mixed-content|error|with-progress)|json-schema-2020-12":
        "asks for a tool of the suite's own example server",
    r"tools-call-(sampling|elicitation)|elicitation-.*|input-required-result-.*":
        "no tool asks the client for anything: what a change needs is in its arguments",
    r"server-sse-.*": NO_STREAMS,
    r"http-custom-header-server-validation": "no argument of a tool is repeated in a header (x-mcp-header)",
    r"tasks-.*": "the extension is not offered; long work is an operation, see get_operation",
    r"sep-2640-.*": "the extension is not offered: there are no skills",
}


class Suite:
    def run(self, *words):
        with node_program.start_script(HERE, "conformance.mjs", None, *words) as script:
            out, _ = script.communicate()
        return script.returncode, out

    def scenarios(self):
        code, out = self.run("list", "--server")
        expect(code, 0, "the list of scenarios")
        return re.findall(r"^\s*- (\S+) \[", out, re.MULTILINE)

    def failed(self, url, scenario, revision):
        """Ids of the checks that failed, with their messages."""
        with tempfile.TemporaryDirectory() as results:
            _, out = self.run("server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", results)
            found = list(Path(results).rglob("checks.json"))
            expect(len(found), 1, f"results of {scenario} at {revision}:\n{out}")
            checks = json.loads(found[0].read_text())
        expect(any(check["status"] == "SUCCESS" for check in checks), True, f"{scenario} at {revision} has checked something:\n{out}")
        return {check["id"]: check.get("errorMessage") for check in checks if check["status"] in ("FAILURE", "WARNING")}


def main():
    suite = Suite()
    listed = suite.scenarios()
    for scenario in listed:
        reasons = [reason for pattern, reason in DOES_NOT_APPLY.items() if re.fullmatch(pattern, scenario)]
        expect(len(reasons) + (scenario in APPLIES), 1, f"{scenario} is run, or named once with the reason why not")
        if reasons:
            print(f"does not apply: {scenario}: {reasons[0]}")
    expect(set(APPLIES) - set(listed), set(), "scenarios that the suite does not have")
    problems = []
    with Serving(sys.argv[1], "sqlite") as daemon:
        daemon.start()
        for scenario, (revisions, excepted) in APPLIES.items():
            for revision in revisions:
                failed = suite.failed(daemon.url + "mcp", scenario, revision)
                problems += [f"{scenario} at {revision}: {check}: {why}" for check, why in failed.items() if check not in excepted]
                problems += [f"{scenario} at {revision}: {check} passes: {why} no longer holds" for check, why in excepted.items()
                             if check not in failed]
    expect(problems, [], "checks that failed:\n" + "\n".join(problems))
    print(f"{len(APPLIES)} scenarios of the conformance suite pass")


main()
