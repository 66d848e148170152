"""Calls a tool of an MCP server for a person. If the agent may not use the key yet, the person is asked and the call waits.

    python3 mcp-consent.py https://mcp.example.com/mcp orders '{"number": 4711}'

Needs the package mcp. Tokens are read each time, because something else renews their files."""
import asyncio, json, os, sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

BROKER, KEY = os.environ["MINTMARK_URL"], os.environ["MINTMARK_KEY"]


def tokens():
    person, agent = (open(os.environ[name]).read().strip() for name in ("PERSON_TOKEN_FILE", "AGENT_TOKEN_FILE"))
    return {"Authorization": "Bearer " + person, "Mintmark-Actor-Token": agent}


async def ask(broker, reason):
    """Returns when the person has consented."""
    asked = await broker.post("/access-requests", json={"keys": [KEY], "reason": reason, "seconds": 900}, headers=tokens())
    if asked.is_error:
        sys.exit(asked.json()["message"])
    request = asked.json()["requests"][0]
    print(f"I need {KEY} for 15 minutes: {reason}. To allow it, log in and run: mintmark-client approve {request['id']}", flush=True)
    while request["status"] == "pending":
        await asyncio.sleep(2)
        answer = await broker.get("/access-requests/" + request["id"], headers=tokens())
        request = request if answer.is_error else answer.json()  # an outage ends, and so does the request
    if request["status"] != "granted":
        sys.exit(f"The request for {KEY} is {request['status']}.")


class ForThePerson(httpx2.Auth):
    """Sends the broker's token to the MCP server, and gets another one when the server refuses it."""

    def __init__(self, reason):
        self.reason, self.token = reason, None

    async def mint(self):
        async with httpx2.AsyncClient(base_url=BROKER, timeout=60) as broker:
            for patience in range(30):  # a replica knows of the grant a moment later
                answer = await broker.post("/credentials/mint", json={"keys": [KEY]}, headers=tokens())
                if answer.is_success:
                    return answer.json()["credentials"][KEY]["ACCESS_TOKEN"]
                if patience == 0 and KEY in answer.json().get("details", {}).get("requestableKeys", []):
                    await ask(broker, self.reason)
                elif patience == 0 or answer.status_code != 403:
                    break
                await asyncio.sleep(0.2)
            sys.exit(answer.json()["message"])

    async def async_auth_flow(self, request):
        self.token = self.token or await self.mint()
        request.headers["Authorization"] = "Bearer " + self.token
        if (yield request).status_code == 401:
            self.token = await self.mint()
            request.headers["Authorization"] = "Bearer " + self.token
            yield request


async def call(server, tool, arguments):
    auth = ForThePerson(f"{tool} {json.dumps(arguments)}")
    async with httpx2.AsyncClient(auth=auth, timeout=None) as http:
        async with Client(streamable_http_client(server, http_client=http)) as client:
            result = await client.call_tool(tool, arguments)
            print(*(part.text for part in result.content if part.type == "text"))


asyncio.run(call(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
