"""Lists the tools and calls one with the Python client; prints what came as JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, secret: str) -> None:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=30)
    async with streamable_http_client(url, http_client=http) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            tools = await session.list_tools()
            result = await session.call_tool("explain_contract", {"table": "sales.orders"})
            structured = getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)
            print(json.dumps({"tools": [tool.name for tool in tools.tools], "result": structured}))


asyncio.run(main(sys.argv[1], sys.argv[2]))
