"""The official Python SDK with one tool, which answers with the text that it was started with: server.py PORT ROWS

Stateless, answers in JSON, one process of uvicorn.
"""
import pathlib
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

port, file = int(sys.argv[1]), pathlib.Path(sys.argv[2])
ROWS = file.read_text()
server = MCPServer("peer", log_level="WARNING")


# The text once, not a second time as structured content.
@server.tool(description="Ten rows", structured_output=False)
async def rows(payload: str | None = None) -> str:
    return ROWS


app = server.streamable_http_app(json_response=True, stateless_http=True)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)
