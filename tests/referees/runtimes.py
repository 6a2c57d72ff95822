"""Runs the composed component, which `kobana edge build` makes, on stock runtimes in front of a demo server."""
import base64
import contextlib
import json
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RUNTIMES = ("wasmtime", "wash")
SECONDS = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def new_key():
    return base64.b64encode(secrets.token_bytes(32)).decode()


def host_environment(key):
    """What makes a demo server answer edge components."""
    return {"KOBANA_EDGE__LISTEN": "127.0.0.1:0", "KOBANA_EDGE__KEYS": f'[{{id = "referee", key = "{key}"}}]'}


def component_environment(base, upstream, servers, key):
    """What the component is told, as the server tells its own."""
    port = base.rsplit(":", 1)[1]
    origins = [f"http://{host}:{p}" for p in (port, 3028) for host in ("127.0.0.1", "localhost")]
    return {
        "KOBANA_RESOURCE": f"{base}/mcp",
        "KOBANA_AUTHORIZATION_SERVERS": servers,
        "KOBANA_ALLOWED_ORIGINS": " ".join([*origins, "https://app.example.com"]),
        "KOBANA_EDGE_URL": upstream,
        "KOBANA_EDGE_KEY": key,
    }


def program(folder, name):
    found = sorted(pathlib.Path(folder, "runtimes").glob(f"lib/python3*/site-packages/{name}"))
    if not found:
        sys.exit(f"{name} is not installed in {folder}/runtimes")
    return found[0]


def wasmtime(folder, component, base, environment, _scratch):
    example = ROOT / "component/edge/examples/wasmtime.sh"
    own = {"WASMTIME": program(folder, "wasmtime_cli/wasmtime"), "ADDRESS": base.removeprefix("http://")}
    return [example, component], None, {**environment, **own}


def wash(folder, component, base, environment, scratch):
    # JSON is YAML, too.
    config = {
        "version": "2.10.3",
        "build": {"command": "true", "component_path": str(component)},
        "workload": {"environment": {"config": environment}},
        "dev": {"address": base.removeprefix("http://")},
    }
    (scratch / ".wash").mkdir(parents=True, exist_ok=True)
    (scratch / ".wash/config.yaml").write_text(json.dumps(config))
    return [program(folder, "wash_cli/wash"), "--non-interactive", "dev"], scratch, {}


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except (OSError, urllib.error.URLError):
        return False


@contextlib.contextmanager
def serving(name, folder, component, upstream, servers, key, scratch):
    """The component on a runtime, whose log and project are called like `scratch`; gives its address."""
    log = scratch.with_name(f"{scratch.name}.runtime.log")
    base = f"http://127.0.0.1:{free_port()}"
    environment = component_environment(base, upstream, servers, key)
    command, directory, variables = {"wasmtime": wasmtime, "wash": wash}[name](
        folder, component, base, environment, scratch.with_name(f"{scratch.name}.project"))
    variables = {name: str(value) for name, value in {**os.environ, "HOME": folder, **variables}.items()}
    with open(log, "w") as output:
        process = subprocess.Popen(list(map(str, command)), cwd=directory, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   env=variables)
        try:
            end = time.monotonic() + SECONDS
            while not answers(f"{base}/.well-known/oauth-protected-resource"):
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit(f"{name} does not serve the component; see {log}")
                time.sleep(0.1)
            yield base
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
