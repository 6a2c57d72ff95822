#!/usr/bin/env python3
"""Posts at a fixed rate, whatever becomes of it, and prints what came of it as one line of JSON.

    pace.py PORT PATH BODY RATE SECONDS CONNECTIONS < HEADERS

Requests are due at moments that were drawn beforehand, independently of each other (a Poisson process). What counts is the time from
the moment that one was due until its whole answer was there: a request that has to wait for a free connection waits on the server's
account, so a server that stands still for a while is not asked less about it.
"""
import collections
import gc
import json
import random
import re
import selectors
import socket
import sys
import time

LENGTH = re.compile(rb"^content-length: *(\d+)", re.I | re.M)
# After which whoever waits has waited long enough.
PATIENCE = 30


class Connection:
    """One connection, with at most one request under way."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due, self.got, self.whole = 0.0, b"", None

    def ask(self, request, due):
        self.due, self.got, self.whole = due, b"", None
        self.socket.sendall(request)

    def read(self):
        """Takes what is there; whether the answer is whole."""
        piece = self.socket.recv(1 << 18)
        if not piece:
            raise ConnectionError("the server closed a connection")
        self.got += piece
        if self.whole is None and (end := self.got.find(b"\r\n\r\n")) >= 0:
            self.whole = end + 4 + int(LENGTH.search(self.got[:end])[1])
        return self.whole is not None and len(self.got) >= self.whole


def moments(rate, seconds, chance):
    """When requests are due, in seconds from the start."""
    at, due = chance.expovariate(rate), collections.deque()
    while at < seconds:
        due.append(at)
        at += chance.expovariate(rate)
    return due


def pace(port, request, due, connections):
    """Sends them all; gives how long each took, in seconds, and how many were answered otherwise than by 200."""
    free = [Connection(port) for _ in range(connections)]
    # The others round what they wait up to milliseconds.
    ready = selectors.SelectSelector()
    for one in free:
        ready.register(one.socket, selectors.EVENT_READ, one)
    took, bad, start = [], 0, time.perf_counter()
    last = due[-1] + PATIENCE
    while due or len(free) < connections:
        now = time.perf_counter() - start
        if now > last:
            raise TimeoutError("some requests were not answered")
        while due and free and due[0] <= now:
            one = free.pop()
            one.ask(request, due.popleft())
        for key, _ in ready.select(max(0.0, due[0] - now) if due and free else PATIENCE):
            if key.data.read():
                took.append(time.perf_counter() - start - key.data.due)
                bad += not key.data.got.startswith(b"HTTP/1.1 200")
                free.append(key.data)
    return took, bad


def main():
    port, path, body, rate, seconds, connections = sys.argv[1:]
    with open(body, "rb") as file:
        content = file.read()
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(content)}", *sys.stdin.read().splitlines()]
    request = "\r\n".join([*head, "", ""]).encode() + content
    due = moments(float(rate), float(seconds), random.Random(7))
    gc.disable()
    took, bad = pace(int(port), request, due, int(connections))
    took.sort()
    at = lambda share: round(took[min(len(took) - 1, int(len(took) * share))] * 1e6)
    print(json.dumps({"requests": len(took), "microseconds": round(float(seconds) * 1e6), "p50": at(0.5), "p99": at(0.99), "max": at(1), "bad": bad}))


if __name__ == "__main__":
    main()
