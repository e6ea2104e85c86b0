"""receiver.py: a receiver of deliveries that does whatever receivers do; support/ordered_receiver.py says how it is told.

For each request it prints the order that it followed, the client's port, how many requests were under way at most so
far, the headers (names in lower case) and the body. Beside a status an order may be
  hang        read the request and answer when the input ends
  cut         read the request and close the connection
  half        send half of the head of an answer and close
  stall       send 200 and its head, promise a body and never send it
  flood       send 200 and a body without an end
  long-head   send 200 and a head without an end
  meet N      wait until N requests are here at once, then answer 200
"""
import socket
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from ordered_receiver import OrderedReceiver, over, run, tell


class Crowd:
    """Who is here at the same time."""

    def __init__(self):
        self.changed = threading.Condition()
        self.present = 0
        self.peak = 0

    def enter(self):
        with self.changed:
            self.present += 1
            self.peak = max(self.peak, self.present)
            self.changed.notify_all()
            return self.peak

    def leave(self):
        with self.changed:
            self.present -= 1

    def meet(self, count):
        with self.changed:
            self.changed.wait_for(lambda: self.peak >= count)


crowd = Crowd()


class Receiver(OrderedReceiver):
    def do_POST(self):
        peak = crowd.enter()
        try:
            body = self.read_body()
            order = self.next_order()
            tell({"order": order, "client": self.client_address[1], "peak": peak, "path": self.path,
                  "headers": {name.lower(): value for name, value in self.headers.items()}, "body": body})
            self.obey(order)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            crowd.leave()

    def obey(self, order):
        name, _, argument = order.partition(" ")
        if name == "meet":
            crowd.meet(int(argument))
            self.answer("200")
        elif name[0].isdigit():
            self.answer(order)
        else:
            self.close_connection = True
            self.misbehave(name)
            self.connection.shutdown(socket.SHUT_RDWR)

    def misbehave(self, name):
        if name == "hang":
            over.wait()
        elif name == "half":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nConte")
        elif name == "stall":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly the beginning")
            over.wait()
        elif name == "flood":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while not over.is_set():
                self.wfile.write(b"x" * 65536)
        elif name == "long-head":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not over.is_set():
                self.wfile.write(b"X-More: " + b"x" * 1000 + b"\r\n")


run(Receiver)
