"""A protected MCP server of the SDK, whose tool says for whom it was called, and by whom: orders.py PORT"""

import os
import sys

import jwt
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

ISSUER = os.environ["ISSUER"]
SERVER = f"http://127.0.0.1:{sys.argv[1]}/mcp"
KEYS = jwt.PyJWKClient(os.environ["JWKS_URL"])


class OfTheBroker:
    async def verify_token(self, token):
        try:
            key = KEYS.get_signing_key_from_jwt(token).key
            claims = jwt.decode(token, key, algorithms=["ES256", "RS256"], audience="https://spare.example.com", issuer=ISSUER)
        except jwt.PyJWTError as e:
            print(e, file=sys.stderr)
            return None
        return AccessToken(token=token, client_id=claims["act"]["sub"], scopes=[], subject=claims["sub"])


server = MCPServer(
    "orders",
    token_verifier=OfTheBroker(),
    auth=AuthSettings(issuer_url=ISSUER, resource_server_url=SERVER, required_scopes=[], validate_token_resource=False),
)


@server.tool()
def orders(number: int) -> str:
    caller = get_access_token()
    return f"order {number} for {caller.subject} by {caller.client_id}"


server.run("streamable-http", port=int(sys.argv[1]))
