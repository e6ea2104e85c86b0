"""Bytes to a server and whatever it answers, without a client library that would mend them."""
import re
import socket

STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n")


class Silence(Exception):
    """The server neither answered nor closed the connection."""


def statuses(raw):
    """The statuses of the answers in what was received; None when it is not HTTP."""
    found, at = [], 0
    while at < len(raw):
        line = STATUS.match(raw, at)
        end = raw.find(b"\r\n\r\n", at)
        if not line or end < 0:
            return None
        head = raw[at:end].lower()
        length = re.search(rb"\r\ncontent-length: (\d+)", head)
        status = int(line.group(1))
        at = end + 4 + (int(length.group(1)) if length else 0)
        if at > len(raw):
            return None
        if status >= 200:
            found.append(status)
    return found


def exchange(port, pieces, timeout=40):
    """Sends the pieces, says that no more will come, and reads to the end. A reset is an end as well."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            while piece := connection.recv(65536):
                received += piece
        except TimeoutError as late:
            raise Silence from late
        except OSError:
            pass
    return received
