"""A service for access providers of type webhook: the contract is webhook.yaml beside this file.

Replace make() and end(). It needs PyJWT (pip install 'PyJWT[crypto]') and a TLS proxy in front.
It serves one request at a time and forgets at a restart: keep `made` and `over` in a database.

    webhook-service.py https://broker.example https://credentials.acme.example/mintmark acme 8080
"""
import base64, hashlib, json, re, secrets, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import jwt

ISSUER, PUBLIC_URL, TENANT, PORT = sys.argv[1:]
TARGETS = {"registry/pull", "registry/push"}  # what this service makes credentials for
KEYS = jwt.PyJWKClient(ISSUER + "/.well-known/jwks.json", timeout=5)
MINT_ID = re.compile("[0-9a-f-]{36}")
made, over = {}, {}  # by mint id: its end and the answer; until when the id can't be used again


def make(mint_id, target, ends):
    """Make the credential. It must end at that time even if the broker never calls again."""
    return {"REGISTRY_USER": "mint-" + secrets.token_hex(4),
            "REGISTRY_PASSWORD": secrets.token_urlsafe(32)}


def end(mint_id):
    """End what make() made. It is called again if it fails."""


def end_mint(mint_id):
    if mint_id in made:
        end(mint_id)
        del made[mint_id]
    over[mint_id] = time.time() + 600  # twice as long as a token of the broker's works


def sweep():
    for mint_id in [each for each, (ends, _) in made.items() if ends <= time.time()]:
        try:
            end_mint(mint_id)
        except Exception as failure:
            print("mint", mint_id, "has not ended yet:", type(failure).__name__, file=sys.stderr)
    for mint_id in [each for each, until in over.items() if until <= time.time()]:
        del over[mint_id]


class Service(BaseHTTPRequestHandler):
    timeout = 10

    def proven(self, mint_id, body):
        """Whether the broker sent exactly this request for this tenant."""
        try:
            token = re.fullmatch("Bearer ([A-Za-z0-9._-]+)", self.headers["Authorization"]).group(1)
            claims = jwt.decode(token, KEYS.get_signing_key_from_jwt(token).key, leeway=30,
                                algorithms=["ES256", "RS256"], issuer=ISSUER,
                                audience="{0.scheme}://{0.netloc}".format(urlsplit(PUBLIC_URL)),
                                options={"require": ["exp", "sub", "jti"]})
        except (jwt.PyJWTError, AttributeError, TypeError):
            return False
        digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).decode().rstrip("=")
        return (claims["sub"].startswith("tenant:%s:" % TENANT) and claims["jti"] == mint_id
                and claims.get("htm") == self.command and claims.get("body_sha256") == digest
                and claims.get("htu") == PUBLIC_URL + "/" + mint_id)

    def do_PUT(self):
        body = self.rfile.read(min(int(self.headers["Content-Length"] or 0), 1 << 16))
        mint_id = self.path.rpartition("/")[2]
        if not MINT_ID.fullmatch(mint_id) or not self.proven(mint_id, body):
            return self.answer(401, {"detail": "not a request of the broker for this tenant"})
        if self.command == "DELETE":
            end_mint(mint_id)
            return self.answer(204, {})
        asked = json.loads(body)
        if mint_id in over:
            return self.answer(410, {"detail": "this mint is over"})
        if asked["version"] != 1 or asked["target"] not in TARGETS:
            return self.answer(422, {"reason": "misconfigured", "detail": "unknown target"})
        if mint_id not in made:
            ends = int(time.time()) + asked["duration"]
            made[mint_id] = (ends, {
                "values": make(mint_id, asked["target"], ends), "credentialId": mint_id,
                "expiresAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ends))})
        self.answer(200, made[mint_id][1])

    do_DELETE = do_PUT

    def answer(self, status, content):
        body = json.dumps(content).encode() if content else b""
        self.send_response(status), self.send_header("Connection", "close")  # as HTTP/1.0 does
        self.send_header("Content-Type", "application/%sjson" % ("problem+" * (status > 399)))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = HTTPServer(("127.0.0.1", int(PORT)), Service)
server.service_actions = sweep  # twice a second
server.serve_forever()
