#!/usr/bin/env python3
"""Callers who use one tool again and again until standard input ends; then prints what came of it as one line of JSON.

    abuse.py PORT CALLERS TOKEN TOOL ARGUMENTS ENDINGS

ENDINGS are the codes of errors and names of limits that a call may end with, or `answer`, with commas between. Whoever is turned away
comes again in a moment. It does as little as it can itself: its own work is at the expense of those who are measured.
"""
import json
import re
import selectors
import sys
import time

from pace import Connection

# Seconds until who was turned away comes again.
AGAIN = {b"429": 0.2, b"extension_unavailable": 0.05}
NAMED = re.compile(rb'\\"(?:limit|code)\\":\\"(\w+)\\"')


class Callers:
    def __init__(self, port, count, request, endings):
        self.request, self.endings = request, endings
        self.ended, self.turned, self.wrong = 0, 0, None
        self.resting = []
        self.ready = selectors.SelectSelector()
        self.ready.register(sys.stdin, selectors.EVENT_READ)
        for _ in range(count):
            one = Connection(port)
            self.ready.register(one.socket, selectors.EVENT_READ, one)
            one.ask(request, 0)

    def go_on(self):
        """Until told to stop, or something ends as it should not."""
        while self.wrong is None:
            now = time.monotonic()
            for one in [one for one in self.resting if one.due <= now]:
                self.resting.remove(one)
                one.ask(self.request, 0)
            wait = min((one.due for one in self.resting), default=now + 60) - now
            for key, _ in self.ready.select(wait):
                if key.data is None:
                    return
                if key.data.read():
                    self.note(key.data)

    def note(self, one):
        names = set(NAMED.findall(one.got))
        pause = max((pause for name, pause in AGAIN.items() if name in names or one.got[9:12] == name), default=None)
        if pause is not None:
            self.turned += 1
            one.due = time.monotonic() + pause
            self.resting.append(one)
            return
        if one.got.startswith(b"HTTP/1.1 200") and (names or {b"answer"}) & self.endings:
            self.ended += 1
            one.ask(self.request, 0)
        else:
            self.wrong = one.got[-300:].decode(errors="replace")


def main():
    port, callers, token, tool, arguments, endings = sys.argv[1:]
    params = {"name": tool, "arguments": json.loads(arguments)}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    head = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", f"Content-Length: {len(body)}",
            f"Authorization: Bearer {token}", "", ""]
    endings = {ending.encode() for ending in endings.split(",")}
    callers = Callers(int(port), int(callers), "\r\n".join(head).encode() + body, endings)
    callers.go_on()
    print(json.dumps({"ended": callers.ended, "turned": callers.turned, "wrong": callers.wrong}))


if __name__ == "__main__":
    main()
