"""repro_test.py SLUICE WORKER COMPILER INCLUDE: the fixture and the test skeleton of a failed event; the skeleton compiles, and the
private values are gone."""
import json
import subprocess
import sys
from pathlib import Path

from outage import Outage, expect


def main():
    sluice, worker, compiler, include = sys.argv[1:5]
    with Outage(sluice, worker, "sqlite") as shop:
        shop.breaks()
        shop.start_worker()
        shop.run("publish", "outage.a", "--source", "shop", "--data", '{"order": 9007199254740993, "email": "ann@example.com"}')
        shop.await_dead(1)
        event = shop.json("dlq", "list")["events"][0]["event_id"]
        folder = Path(shop.folder.name) / "repro"
        fixture, skeleton = shop.run("dlq", "export", event, "--repro", str(folder)).split()
        text = Path(fixture).read_text()
        expect(json.loads(text)["payload"], {"order": 9007199254740993, "email": "[redacted]"}, "the fixture's payload")
        expect("9007199254740993" in text, True, "numbers stay exact")
        subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-fsyntax-only", skeleton], check=True)
        shop.run("dlq", "export", event, "--repro", str(folder), wanted=5)
    print("a fixture, and a skeleton that compiles")


main()
