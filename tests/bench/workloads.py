"""What is asked of the servers, and what a right answer to it is."""
import dataclasses
import json
import pathlib
import typing

ROWS = pathlib.Path(__file__).resolve().parent / "peers/rows.json"
OURS = ("kobana", "twin")
PEERS = ("rmcp", "typescript", "python")
LARGE = 900_000


class Wrong(Exception):
    """An answer is not what it should be."""


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    about: str
    servers: tuple
    message: typing.Callable  # from the server's name to the JSON-RPC request
    check: typing.Callable  # takes the server's name and the result, raises where it is wrong
    bare: str = "/"  # where the bare answer to it is

    def path(self, server):
        return self.bare if server == "hyper" else "/mcp"


def ask(method, params=None):
    return {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": params} if params is not None else {})}


def call(name, arguments):
    return ask("tools/call", {"name": name, "arguments": arguments})


def demand(holds, what):
    if not holds:
        raise Wrong(what)


def text(result, error=False):
    demand(bool(result.get("isError")) == error, f"isError is {result.get('isError')}")
    demand(len(result.get("content", [])) == 1, "not one content block")
    return result["content"][0]["text"]


def empty(_server, result):
    demand(result == {}, "the result is not empty")


def tools(server, result):
    count = len(result["tools"])
    demand(count == (38 if server in OURS else 1), f"{count} tools")


def constant(server, result):
    if server in OURS:
        demand(json.loads(text(result))["data"]["person"]["name"] == "Ana Souza", "another person")
    else:
        demand(text(result) == ROWS.read_text(), "other rows")


def refused(server, result):
    if server in OURS:
        demand(json.loads(text(result, error=True))["error"]["code"] == "validation_failed", "not refused by the schema")
    else:
        constant(server, result)


def page(_server, result):
    demand(len(json.loads(text(result))["data"]) == 10, "not ten e-mails")


def long_body(_server, result):
    demand(len(json.loads(text(result))["data"]["body"]["text"].encode()) == 200 * 1024, "the body is not 200 KiB long")


def written(_server, result):
    demand(len(json.loads(text(result))["data"]["system_message"]) == LARGE, "not as long as what was sent")


def workloads(email, agent):
    """`email` is the id of the e-mail with the long body, `agent` that of an agent."""
    return [
        Workload("ping", "ping of the 2025 era; ours proves the token first",
                 OURS + PEERS + ("hyper",), lambda _: ask("ping"), empty, "/ping"),
        Workload("tools/list", "ours lists 38 tools (27 KB), a peer its one",
                 OURS + PEERS, lambda _: ask("tools/list"), tools),
        Workload("constant tool", "ours me_get, which reads no row beyond those of the token's person (1.3 KB); "
                 "the peers ten rows from memory (10 KB)",
                 OURS + PEERS + ("hyper",), lambda server: call("me_get" if server in OURS else "rows", {}), constant),
        Workload("900 KB arguments", "one argument of 900,000 bytes; ours refuses it by the tool's schema, the peers "
                 "parse it and answer their rows",
                 OURS + PEERS + ("hyper",),
                 lambda server: call("me_get" if server in OURS else "rows", {"payload": "x" * LARGE}), refused),
        Workload("emails_list", "10 of 100,000 e-mails from SQLite (10 KB)",
                 OURS, lambda _: call("emails_list", {"limit": 10}), page),
        Workload("emails_get", "an e-mail with a body of 200 KiB", OURS, lambda _: call("emails_get", {"id": email}), long_body),
        Workload("900 KB written", "agents_update with 900,000 bytes of instructions, which come back in the answer",
                 OURS, lambda _: call("agents_update", {"id": agent, "system_message": "x" * LARGE}), written),
    ]
