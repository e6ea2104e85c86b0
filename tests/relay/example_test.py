"""example_test.py SOURCE PROGRAM SLUICE nats|redis: the example runs unchanged through a broker, with a daemon that relays;
then the relay is turned back and it runs without."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fresh_database import FreshDatabase


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def start_broker(kind, folder):
    port = free_port()
    if kind == "nats":
        words = ["nats-server", "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", folder]
    else:
        words = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes",
                 "--appendfsync", "always"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not answers(port):
        process.poll()
    return process, f"{kind}://127.0.0.1:{port}"


def promised_output(source):
    lines = source.read_text().splitlines()
    promised = []
    for line in lines[lines.index("// Prints:") + 1:]:
        if not line.startswith("//   "):
            return promised
        promised.append(line[5:])


def sluice(program, environment, *words):
    done = subprocess.run([program, *words], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"sluice {' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def run_example(source, program, environment):
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0 or done.stdout.splitlines() != promised_output(source):
        sys.exit(f"exit {done.returncode}, another output than promised:\n{done.stdout}{done.stderr}")


def check_daemon(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/doctor", timeout=60) as answer:
        report = json.load(answer)
    found = {finding["id"]: finding for finding in report["findings"]}
    if found["broker-unsafe"]["severity"] in ("warning", "critical"):
        sys.exit(f"the daemon's doctor: {found['broker-unsafe']}")


def main():
    source, program, binary, kind = Path(sys.argv[1]), *sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder, FreshDatabase(binary, f"relay_{kind}") as database:
        server, url = start_broker(kind, folder)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "DATABASE_URL"))}
        environment |= {"SLUICE_STORE": database.url, "SLUICE_BROKER": url, "SLUICE_ACTOR": "test", "HOME": folder}
        port = free_port()
        daemon = subprocess.Popen([binary, "serve", "--listen", f"127.0.0.1:{port}"], env=environment,
                                  stderr=subprocess.PIPE, text=True)
        try:
            sluice(binary, environment, "ladder", "relay", kind, "--reason", "a test")
            shown = sluice(binary, environment, "ladder", "relay")
            if f"on {kind}" not in shown:
                sys.exit(f"the relay is not on:\n{shown}")
            run_example(source, program, environment)
            relayed = database.sql("select count(*) from core.outbox where status = 'delivered' and claimed_by like '%/relay:%'")
            if relayed != "4" or database.sql("select count(*) from example_orders") != "3":
                sys.exit(f"{relayed} of 4 events went through {kind}, " + database.sql("select count(*) from example_orders") +
                         " effects of 3")
            sluice(binary, environment, "doctor")
            check_daemon(port)
            sluice(binary, environment, "ladder", "relay", "--back", "--reason", "a test")
            run_example(source, program, environment)
            relayed = database.sql("select count(*) from core.outbox where claimed_by like '%/relay:%'")
            if relayed != "4":
                sys.exit(f"{relayed} events went through {kind} after the way back")
        finally:
            daemon.terminate()
            said = daemon.communicate(timeout=60)[1]
            server.kill()
            server.wait()
        if '"level":"error"' in said:
            sys.exit(said)


main()
