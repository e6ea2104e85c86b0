"""Requests that no honest client sends. Each maker takes a random generator and gives what to send and the statuses that may come
back; `CLOSED` among them: the connection may also just end. SMUGGLED marks events that must never be stored."""
import json

CLOSED = 0
SMUGGLED = "smuggled.event"
HOST = b"Host: 127.0.0.1\r\n"
GOOD = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
REFUSED = {400}


def publish(body, *headers, target=b"/v1/events"):
    lines = b"".join(header + b"\r\n" for header in headers)
    return b"POST " + target + b" HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n" + lines + b"\r\n" + body


def event(event_type="abuse.event"):
    return json.dumps({"event_type": event_type, "source": "abuse"}).encode()


def hidden_request():
    return publish(event(SMUGGLED), b"Content-Length: %d" % len(event(SMUGGLED)))


def length_and_chunked(random):
    inner = hidden_request()
    headers = [b"Content-Length: %d" % random.choice([0, 4, len(inner)]), b"Transfer-Encoding: chunked"]
    random.shuffle(headers)
    return [publish(b"0\r\n\r\n" + inner, *headers)], REFUSED


def two_lengths(random):
    inner = hidden_request()
    lengths = random.choice([(0, len(inner)), (len(inner), 0), (3, 5)])
    if random.random() < 0.5:
        return [publish(inner, b"Content-Length: %d, %d" % lengths)], REFUSED
    return [publish(inner, *(b"Content-Length: %d" % length for length in lengths))], REFUSED


def odd_length(random):
    value = random.choice([b"-1", b"+5", b"0x10", b"1e3", b"5 5", b"99999999999999999999999", b"", b"five", b"5;", b"\xd9\xa5"])
    return [publish(hidden_request(), b"Content-Length: " + value)], {400, 413}


def odd_coding(random):
    coding = random.choice([b"Transfer-Encoding: xchunked", b"Transfer-Encoding : chunked", b"Transfer-Encoding: chunked, identity",
                            b"Transfer-Encoding: identity, chunked", b"Transfer-Encoding: \x0bchunked", b"Transfer-Encoding: gzip",
                            b"Transfer-Encoding:\tchunked\r\nTransfer-Encoding: x", b"Transfer-Encoding: \"chunked\""])
    return [publish(random.choice([b"", b"0\r\n\r\n"]) + hidden_request(), coding)], {400, 501}


def bad_chunks(random):
    chunks = random.choice([b"zz\r\nabc\r\n0\r\n\r\n", b"ffffffffffffffffffff\r\nabc", b"-1\r\nabc\r\n", b"3\r\nabcd\r\n0\r\n\r\n", b"3 \x01\r\nabc",
                            b"5;\nabcde\r\n0\r\n\r\n", b"\r\n\r\n", b"3\nabc\n0\n\n", b"0x3\r\nabc\r\n0\r\n\r\n", b"1" * 5000])
    return [publish(chunks, b"Transfer-Encoding: chunked")], {400, 413, 431, CLOSED}


def endless_chunks(random):
    piece = b"%x\r\n" % 65536 + b"x" * 65536 + b"\r\n"
    return [publish(b"", b"Transfer-Encoding: chunked"), *([piece] * random.randint(18, 30))], {413}


def folded_header(random):
    return [b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Folded: a\r\n" + random.choice([b" b", b"\tb", b" Host: evil"]) + b"\r\n\r\n"], {200, 400}


def strange_header(random):
    line = random.choice([b"X\x00Y: 1", b"X: a\x00b", b"X: a\x01b", b": empty", b"No colon at all", b"X Y: 1", b"X : 1", b"\xff\xfe: 1",
                          b"X: \r1", b"(x): 1", b"X: a\x7fb", b" X: 1"])
    return [b"GET /healthz HTTP/1.1\r\n" + line + b"\r\n" + HOST + b"\r\n"], {400}


def giant_head(random):
    kind = random.randrange(3)
    size = random.choice([40_000, 300_000])
    if kind == 0:
        return [b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Large: " + b"a" * size + b"\r\n\r\n"], {431}
    if kind == 1:
        return [b"GET /healthz HTTP/1.1\r\n" + HOST + b"".join(b"X-%d: 1\r\n" % n for n in range(size // 7)) + b"\r\n"], {431}
    return [b"GET /" + b"a" * size + b" HTTP/1.1\r\n" + HOST + b"\r\n"], {400, 414, 431}


def pipelined(random):
    good = random.randint(1, 5)
    return [GOOD * good + random.choice([b"\x00\x01garbage\r\n\r\n", b"GET / HTTP/1.1\r\nbroken\r\n\r\n", b"}{\r\n\r\n"])], {200, 400}


def not_origin_form(random):
    target = random.choice([b"http://evil.example/healthz", b"https://127.0.0.1/healthz", b"evil.example:443", b"*", b"healthz", b"//healthz",
                            b"\\healthz", b"/a/../healthz", b"/./healthz", b"/v1//events"])
    method = random.choice([b"GET", b"CONNECT", b"OPTIONS", b"TRACE"])
    return [method + b" " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n"], {400, 404, 405, 501}


def bad_escape(random):
    target = random.choice([b"/v1/events/%zz", b"/v1/events/%", b"/%00", b"/%2e%2e/etc/passwd", b"/%c0%af", b"/%ff", b"/a%2fb", b"/%0d%0aX: 1",
                            b"/v1/events?filter=%zz", b"/v1/events?limit=1&limit=2", b"/..%5c..%5cetc", b"/v1/events/%e2%82"])
    return [b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n"], {400, 404, 505}


def strange_method(random):
    method = random.choice([b"get", b"G\x00T", b"GE T", b"", b"\xc3\x9c", b"A" * 300, b"DELETE", b"PROPFIND", b"(GET)"])
    return [method + b" /healthz HTTP/1.1\r\n" + HOST + b"\r\n"], {400, 405, 501, 505}


def strange_version(random):
    version = random.choice([b"HTTP/9.9", b"HTTP/1.1x", b"HTTP/2.0", b"HTTP/1", b"http/1.1", b"HTTP/1.1 ", b"", b"FTP/1.1", b"HTTP/-1.1"])
    return [b"GET /healthz " + version + b"\r\n" + HOST + b"\r\n"], {400, 505}


def wrong_host(random):
    hosts = random.choice([b"", HOST + HOST, HOST + b"Host: evil.example\r\n", b"Host: evil.example\r\n", b"Host: 127.0.0.1@evil.example\r\n",
                           b"Host: 127.evil.example\r\n", b"Host: 127.0.0.1.evil.example\r\n", b"Host: [::1].evil.example\r\n"])
    return [b"GET /v1/me HTTP/1.1\r\n" + hosts + b"\r\n"], {400, 421}


def huge_body(random):
    if random.random() < 0.5:
        return [publish(b"", b"Content-Length: %d" % random.choice([2_000_000, 10**12]))], {413}
    body = b"x" * 1_500_000
    return [publish(body, b"Content-Length: %d" % len(body))], {413, CLOSED}


def bad_json(random):
    body = random.choice([b"{", b"[" * 100_000, b"{\"a\":" * 5_000, b"nul", b"\xff\xfe", b"{\"event_type\":\"a\x00b\"}", b"{\"event_type\":1}",
                          b"{\"event_type\":\"a\",\"event_type\":\"b\"}", b"1e99999", b"\"\\ud800\"", b"{\"events\":[" + b"{}," * 1500 + b"{}]}",
                          b"{\"event_type\":\"" + b"a" * 100_000 + b"\"}", b"", b"[]", bytes(random.randrange(256) for _ in range(200))])
    return [publish(body, b"Content-Length: %d" % len(body))], {400, 413}


def strange_media(random):
    media = random.choice([b"text/html", b"application/xml", b"", b"/", b"a" * 1000])
    body = event(SMUGGLED)
    return [b"POST /v1/events HTTP/1.1\r\n" + HOST + b"Content-Type: " + media + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body], {400, 415}


def expectation(random):
    body = event(SMUGGLED)
    return [publish(body, b"Content-Length: %d" % len(body), b"Expect: " + random.choice([b"a miracle", b"200-ok", b"100-continue, more"]))], {417}


def bare_newlines(_):
    return [b"GET /healthz HTTP/1.1\nHost: 127.0.0.1\n\n"], {400, 505, CLOSED}


def half_open(random):
    whole = publish(event(SMUGGLED), b"Content-Length: %d" % (len(event(SMUGGLED)) + 1))
    return [whole[:random.randrange(1, len(whole))]], {400, CLOSED}


def noise(random):
    return [bytes(random.randrange(256) for _ in range(random.randint(1, 3000))) + b"\r\n\r\n"], {400, 431, 505, CLOSED}


def mutated(random):
    """A good publish with a few bytes changed: it may still be one."""
    whole = bytearray(publish(event(), b"Content-Length: %d" % len(event())))
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(whole))
        change = random.randrange(3)
        if change == 0:
            whole[at] = random.randrange(256)
        elif change == 1:
            del whole[at]
        else:
            whole.insert(at, random.randrange(256))
    return [bytes(whole)], {200, 201, 400, 403, 404, 405, 411, 413, 415, 417, 421, 431, 501, 505, CLOSED}


MAKERS = [length_and_chunked, two_lengths, odd_length, odd_coding, bad_chunks, endless_chunks, folded_header, strange_header, giant_head,
          pipelined, not_origin_form, bad_escape, strange_method, strange_version, wrong_host, huge_body, bad_json, strange_media, expectation,
          bare_newlines, half_open, noise, mutated]
# What may be more than one request.
SEVERAL = {pipelined.__name__, mutated.__name__}
# These move megabytes; a few of them are enough.
HEAVY = {endless_chunks, huge_body}
