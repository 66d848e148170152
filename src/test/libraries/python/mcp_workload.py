"""MCP's SDK asks a protected server who authorizes it, finds the broker, and authenticates with the
workload's identity token as a client assertion (RFC 7523 section 2.2), as docs/clients/oauth2.md shows."""

import asyncio
import importlib.metadata
import os
import pathlib
import re

import httpx2

BROKER = os.environ["MINTMARK_URL"]
PAGE = pathlib.Path(os.environ["DOCUMENTS"], "clients", "oauth2.md").read_text()
BLOCK = next(block for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S) if "from mcp" in block)
SERVER = "https://mcp.example.com"


class Storage:
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Network(httpx2.AsyncBaseTransport):
    """The MCP server, which is elsewhere: its metadata (RFC 9728), and 401 without the broker's token."""

    def __init__(self, path):
        self.path = path
        self.broker = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request):
        if request.url.host != "mcp.example.com":
            return await self.broker.handle_async_request(request)
        metadata = "/.well-known/oauth-protected-resource" + self.path
        if request.url.path == metadata:
            return httpx2.Response(200, json={"resource": SERVER + self.path, "authorization_servers": [BROKER]})
        if request.url.path.startswith("/.well-known/"):
            return httpx2.Response(404)
        if "Authorization" in request.headers:
            return httpx2.Response(200, text=request.headers["Authorization"])
        return httpx2.Response(401, headers={"WWW-Authenticate": 'Bearer resource_metadata="%s"' % (SERVER + metadata)})


async def call(path):
    names = {"os": os, "pathlib": pathlib, "storage": Storage()}
    exec(BLOCK.replace(SERVER + "/orders", SERVER + path).replace("https://mintmark.example.com", BROKER), names)
    async with httpx2.AsyncClient(transport=Network(path), auth=names["auth"]) as client:
        return await client.post(SERVER + path, json={})


answer = asyncio.run(call("/orders"))
assert answer.status_code == 200 and answer.text.startswith("Bearer eyJ"), answer.text
try:
    asyncio.run(call("/nothing"))
    raise AssertionError("a resource without a key got a token")
except Exception as e:
    assert "invalid_target" in str(e) or "nothing" in str(e), e

print("mcp", importlib.metadata.version("mcp"))
