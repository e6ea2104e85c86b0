"""Failures that a worker of the pull API reports."""
import json
import urllib.request


def post(shop, path, body):
    request = urllib.request.Request(shop.url + path, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def claim(shop, event_type, wait_seconds):
    """Also subscribes, so that events of the type wait for it."""
    wanted = {"handler": "tests.hostile", "event_types": [event_type], "limit": 1, "wait_seconds": wait_seconds, "worker": "hostile"}
    return post(shop, "v1/claims", wanted)["claims"]


def fail(shop, claimed, message):
    """Says that the event can never be handled."""
    failed = {"claim": claimed["claim"], "outcome": "failed", "error_class": "HostileError", "message": message, "terminal": True}
    post(shop, "v1/claims/settle", {"settlements": [failed]})
