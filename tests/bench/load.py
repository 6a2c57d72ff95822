"""Runs of wrk against one server."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from servers import Trouble

HERE = pathlib.Path(__file__).resolve().parent


def demand_wrk():
    if not shutil.which("wrk"):
        raise Trouble("needs wrk (Debian: apt-get install wrk)")


def wrk(server, path, body, connections, seconds, where):
    """One run that posts the content of the file `body`: what load.lua counted. Raises where not every answer was 200."""
    headers = "\n".join(f"{name}: {value}" for name, value in server.headers().items())
    url = f"http://127.0.0.1:{server.port}{path}"
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", HERE / "load.lua", url]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "BODY": str(body), "HEADERS": headers})
    found = re.search(r"^RESULT (.*)$", done.stdout, re.M)
    if done.returncode or not found:
        raise Trouble(f"wrk failed at {where}: {done.stdout}{done.stderr}")
    got = json.loads(found[1])
    if got["bad"] or got["broken"] or got["late"]:
        raise Trouble(f"not every request was answered by {where}: {got}; see {server.log}")
    return got


def numbers(got):
    """Answers a second, and p50 and p99 in microseconds."""
    return {"rate": got["requests"] * 1e6 / got["microseconds"], "p50": got["p50"], "p99": got["p99"]}


def measure(server, body, connections, seconds):
    """One run at the MCP endpoint."""
    return numbers(wrk(server, "/mcp", body, connections, seconds, server.name))


# Connections for a fixed rate: more than are ever busy, unless the server cannot keep up.
PLENTY = 32


def paced(server, body, rate, seconds):
    """One run at the MCP endpoint at a fixed rate; see pace.py."""
    headers = "".join(f"{name}: {value}\n" for name, value in server.headers().items())
    command = [sys.executable, "-B", HERE / "pace.py", str(server.port), "/mcp", body, str(rate), str(seconds), str(PLENTY)]
    done = subprocess.run(command, input=headers, capture_output=True, text=True)
    if done.returncode:
        raise Trouble(f"nothing can be measured at {server.name}: {done.stderr}")
    got = json.loads(done.stdout)
    if got["bad"]:
        raise Trouble(f"not every request was answered by {server.name}: {got}; see {server.log}")
    return numbers(got)
