"""webhook_receiver.py: a webhook receiver for tests, strict about what it takes.

support/ordered_receiver.py says how it is told what to answer; `hang` reads the request and answers when the input
ends. It prints, for each request, what it answered, the headers and the body. Something that is not an alert is
answered with 400.
"""
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from ordered_receiver import OrderedReceiver, over, run, tell

TEXT, NUMBER = str, int
FIELDS = {
    "alert": TEXT, "alert_id": TEXT, "service": TEXT, "environment": TEXT, "event_id": TEXT, "event_type": TEXT,
    "source": TEXT, "target": (str, type(None)), "workspace_id": (str, type(None)), "generation": NUMBER,
    "handler_name": (str, type(None)), "error_class": TEXT, "fingerprint": TEXT, "last_error": TEXT,
    "attempts": NUMBER, "suppressed": NUMBER, "trace_context": (str, type(None)), "failed_at": TEXT,
}


def complaint(request, body):
    if request.headers.get("Content-Type") != "application/json":
        return "the content type is not application/json"
    try:
        alert = json.loads(body)
    except ValueError as error:
        return f"not JSON: {error}"
    if list(alert) != list(FIELDS):
        return f"the fields are {list(alert)}"
    wrong = [name for name, kind in FIELDS.items() if not isinstance(alert[name], kind)]
    return f"of the wrong type: {wrong}" if wrong else None


class Receiver(OrderedReceiver):
    def do_POST(self):
        body = self.read_body()
        wrong = complaint(self, body)
        order = "400" if wrong else self.next_order()
        tell({"answered": order, "complaint": wrong, "path": self.path, "headers": dict(self.headers), "body": body})
        if order == "hang":
            over.wait()
            self.close_connection = True
            return
        self.answer(order)


run(Receiver)
