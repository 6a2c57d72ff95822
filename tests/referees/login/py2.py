"""Signs in with the OAuth of PyPI's mcp 2, then calls a tool that takes more than was granted: py2.py URL CALLBACK.

Where the browser is to go is a line `visit URL`; what came back to CALLBACK is read as a line of JSON. Ends with what it saw.
"""
import asyncio
import json
import sys

import httpx2
from mcp.client import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


class Memory:
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def visit(url):
    print("visit", url, flush=True)


async def came_back():
    answer = json.loads(await asyncio.to_thread(sys.stdin.readline))
    return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer["iss"])


async def main(url, callback):
    memory = Memory()
    metadata = OAuthClientMetadata(client_name="Python client", redirect_uris=[callback], token_endpoint_auth_method="none")
    auth = OAuthClientProvider(url, metadata, memory, redirect_handler=visit, callback_handler=came_back)
    async with httpx2.AsyncClient(auth=auth, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            me = json.loads((await client.call_tool("me_get", {})).content[0].text)["data"]
            first = sorted(memory.tokens.scope.split())
            agents = json.loads((await client.call_tool("agents_list", {})).content[0].text)["data"]
            then = sorted(memory.tokens.scope.split())
    print("saw", json.dumps({"email": me["person"]["email"], "first": first, "then": then, "agents": len(agents)}), flush=True)


asyncio.run(main(*sys.argv[1:]))
