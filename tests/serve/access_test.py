"""access_test.py SLUICE: who may call what: tokens, roles, names, origins, and no start in the open without a token."""
import hashlib
import subprocess
import sys

from serving import Serving, expect

TOKENS = {"viewer": "look-but-do-not-touch", "operator": "publish-and-replay", "admin": "everything-there-is"}
CONFIGURATION = "edit_replay = true\n" + "".join(f"""\
[tokens.{role}]
role = "{role}"
token_sha256 = "{hashlib.sha256(token.encode()).hexdigest()}"
""" for role, token in TOKENS.items())
EVENT = {"event_type": "shop.sold", "source": "shop"}
NOBODY = "0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e"

# method, path, body, and the status for nobody, viewer, operator, admin
TABLE = [
    ("GET", "/healthz", None, (200, 200, 200, 200)),
    ("GET", "/openapi.json", None, (200, 200, 200, 200)),
    ("GET", "/v1/me", None, (401, 200, 200, 200)),
    ("GET", "/metrics", None, (401, 200, 200, 200)),
    ("GET", "/v1/dlq/groups", None, (401, 200, 200, 200)),
    ("POST", "/v1/events", EVENT, (401, 403, 201, 201)),
    ("POST", f"/v1/events/{NOBODY}/replay", {"reason": "test"}, (401, 403, 404, 404)),
    ("POST", f"/v1/events/{NOBODY}/run-now", {"reason": "test"}, (401, 403, 404, 404)),
    ("POST", f"/v1/events/{NOBODY}/edit-replay", {"reason": "test", "payload": {}}, (401, 403, 403, 404)),
    ("GET", f"/v1/events/{NOBODY}/payload", None, (401, 404, 404, 404)),
    ("POST", "/v1/plans", {"all": True}, (401, 403, 200, 200)),
    ("GET", "/v1/filters", None, (401, 200, 200, 200)),
    ("POST", "/v1/filters", {"name": "late", "filter": "type:shop.*"}, (401, 403, 200, 200)),
    ("POST", "/v1/generations", {"reason": "test"}, (401, 403, 403, 201)),
    ("POST", "/v1/sinks/log/pause", {"reason": "test"}, (401, 403, 403, 200)),
]


def check_table(daemon):
    callers = [None, *TOKENS.values()]
    for method, path, body, wanted in TABLE:
        found = []
        for token in callers:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            answer = daemon.call(method, path, body, headers)
            found.append(answer.status)
            if answer.status >= 400:
                expect(answer.headers["content-type"], "application/problem+json", f"{method} {path}")
        expect(tuple(found), wanted, f"{method} {path} for nobody, viewer, operator, admin")


def check_names(daemon):
    admin = {"Authorization": f"Bearer {TOKENS['admin']}"}
    for host in ("evil.example", "localhost.evil.example", ""):
        expect(daemon.call("GET", "/v1/me", headers=admin | {"Host": host}).status in (400, 421), True, f"the host {host!r}")
    for origin in ("http://evil.example", "null"):
        answer = daemon.call("POST", "/v1/events", EVENT, admin | {"Origin": origin})
        expect((answer.status, answer.json()["code"]), (403, "cross_origin"), f"the origin {origin}")
        expect(daemon.call("POST", "/mcp", {}, admin | {"Origin": origin}).status, 403, f"/mcp from {origin}")
    own = admin | {"Origin": f"http://127.0.0.1:{daemon.port}"}
    expect(daemon.call("GET", "/v1/me", headers=own).status, 200, "its own origin")
    expect(daemon.call("GET", "/v1/me", headers={"Authorization": "Bearer guess"}).status, 401, "a token that is none")


def check_audit(daemon):
    records = daemon.get("/v1/audit", Authorization=f"Bearer {TOKENS['viewer']}")["records"]
    allocated = [one for one in records if one["action"].startswith("generation.")]
    expect([(one["actor"], one["surface"], one["reason"]) for one in allocated], [("admin", "http", "test")], "the audit")


def check_open_refused(sluice, daemon):
    done = subprocess.run([sluice, "serve", "--listen", "0.0.0.0:0"], env=daemon.environment, capture_output=True, text=True,
                          timeout=60, cwd=daemon.folder.parent)
    expect(done.returncode, 2, "serve in the open without a token")
    expect("token" in done.stderr, True, f"the error names what is missing: {done.stderr}")


def main():
    sluice = sys.argv[1]
    with Serving(sluice, "sqlite", CONFIGURATION) as daemon:
        daemon.start()
        check_table(daemon)
        check_names(daemon)
        check_audit(daemon)
        expect(TOKENS["admin"] in (daemon.folder / "log").read_text(), False, "a token in the log")
        check_open_refused(sluice, daemon)
    with Serving(sluice, "sqlite", "[http]\nread_only = true\n") as daemon:
        daemon.start()
        expect(daemon.get("/v1/me")["role"], "viewer", "the role where nothing may be changed")
        expect(daemon.call("POST", "/v1/events", EVENT).status, 403, "a publish there")
    print(f"{len(TABLE) * 4} calls by role, names and origins checked")


main()
