"""example_test.py SOURCE PROGRAM SLUICE nats|redis|identity: the example runs unchanged through a broker, with a daemon that
relays; then the relay is turned back and it runs without. identity: NATS with client certificates and a credentials file, for
the daemon, the library and a sink."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import nats_identity
from fresh_database import FreshDatabase
from polling import until


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
    until(lambda: answers(port))
    return process, f"{kind}://127.0.0.1:{port}"


def start_guarded(folder):
    """Lets in who has a certificate and credentials, and has a name that no URL has."""
    port, folder = free_port(), Path(folder)
    nats_identity.make(folder)
    settings = folder / "nats.conf"
    settings.write_text(f'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{folder}/data" }}\n'
                        f'tls {{ cert_file: "{folder}/named.pem", key_file: "{folder}/named.key", ca_file: "{folder}/ca.pem", '
                        f'verify: true }}\n' + (folder / "operator.conf").read_text())
    process = subprocess.Popen(["nats-server", "-c", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: answers(port))
    environment = {"SLUICE_BROKER_CREDENTIALS": f"{folder}/app.creds", "SLUICE_BROKER_TLS_CA": f"{folder}/ca.pem",
                   "SLUICE_BROKER_TLS_CERT": f"{folder}/client.pem", "SLUICE_BROKER_TLS_KEY": f"{folder}/client.key",
                   "SLUICE_BROKER_TLS_SERVER_NAME": "bus.example.com"}
    return process, f"tls://127.0.0.1:{port}", environment


def check_sink(binary, environment, folder, url):
    """Its subject is one that the relay's stream takes."""
    config = Path(folder) / "sinks.toml"
    config.write_text(f'[sinks.bus]\nkind = "nats"\nurls = ["{url}"]\nsubject = "sluice.bus.{{type}}"\n'
                      f'credentials_file = "{folder}/app.creds"\ntls_ca = "{folder}/ca.pem"\ntls_cert = "{folder}/client.pem"\n'
                      f'tls_key = "{folder}/client.key"\ntls_server_name = "bus.example.com"\n')
    said = sluice(binary, environment, "sink", "test", "bus", "--config", str(config))
    if "sluice.bus.sluice.test" not in said:
        sys.exit(f"the sink: {said}")


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
        guarded = kind == "identity"
        if guarded:
            kind = "nats"
            server, url, identity = start_guarded(folder)
        else:
            (server, url), identity = start_broker(kind, folder), {}
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "DATABASE_URL"))}
        environment |= {"SLUICE_STORE": database.url, "SLUICE_BROKER": url, "SLUICE_ACTOR": "test", "HOME": folder} | identity
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
            if guarded:
                check_sink(binary, environment, folder, url)
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
