"""google-auth gets tokens of a gcp key from each kind of source, and google-cloud-storage sends them."""

import http.server
import json
import os
import pathlib
import shlex
import sys
import tempfile
import threading

import google.auth
import google.auth.version
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request
from google.cloud import storage

BROKER = os.environ["MINTMARK_URL"]
TOKEN_FILE = os.environ["MINTMARK_TOKEN_FILE"]
SCOPE = "https://www.googleapis.com/auth/devstorage.read_only"
os.environ["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1"


def credentials(source, key="cloud"):
    """Reads a file as docs/clients/oauth2.md shows it."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "mintmark.json")
        file.write_text(
            json.dumps(
                {
                    "type": "external_account",
                    "audience": "//mintmark/" + key,
                    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                    "token_url": BROKER + "/oauth2/token",
                    "credential_source": source,
                }
            )
        )
        os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = str(file)
        os.environ["GOOGLE_CLOUD_PROJECT"] = "acme-prod"
        found, project = google.auth.default(scopes=[SCOPE])
        assert project == "acme-prod", project
        return found


def assert_refreshes(source):
    found = credentials(source)
    found.refresh(Request())
    assert found.valid and found.token and found.expiry, found


class Issuer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        assert self.headers["Authorization"] == "Bearer of-the-pipeline"
        body = json.dumps({"value": pathlib.Path(TOKEN_FILE).read_text()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


assert_refreshes({"file": TOKEN_FILE})

issuer = http.server.HTTPServer(("127.0.0.1", 0), Issuer)
threading.Thread(target=issuer.serve_forever, daemon=True).start()
assert_refreshes(
    {
        "url": f"http://127.0.0.1:{issuer.server_port}/?audience=mintmark-acme",
        "headers": {"Authorization": "Bearer of-the-pipeline"},
        "format": {"type": "json", "subject_token_field_name": "value"},
    }
)



class Storage(http.server.BaseHTTPRequestHandler):
    sent = []

    def do_GET(self):
        self.sent.append((self.path.split("?")[0], self.headers["Authorization"]))
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


bucket = http.server.HTTPServer(("127.0.0.1", 0), Storage)
threading.Thread(target=bucket.serve_forever, daemon=True).start()
client = storage.Client(
    project="acme-prod",
    credentials=credentials({"file": TOKEN_FILE}),
    client_options={"api_endpoint": f"http://127.0.0.1:{bucket.server_port}"},
)
assert client.bucket("acme").blob("hello.txt").download_as_bytes(checksum=None) == b"hello"
# The client may also refresh the token and look at the bucket, before it or beside it.
downloads = [sent for sent in Storage.sent if sent[0] == "/download/storage/v1/b/acme/o/hello.txt"]
assert downloads, Storage.sent
assert all(authorization.startswith("Bearer ya29.") for _, authorization in Storage.sent), Storage.sent

PROGRAM = """
import json, pathlib, sys
print(json.dumps({
    "version": 1,
    "success": True,
    "token_type": "urn:ietf:params:oauth:token-type:jwt",
    "id_token": pathlib.Path(sys.argv[1]).read_text(),
}))
"""
with tempfile.TemporaryDirectory() as directory:
    program = pathlib.Path(directory, "program.py")
    program.write_text(PROGRAM)
    command = shlex.join([sys.executable, str(program), TOKEN_FILE])
    assert_refreshes({"executable": {"command": command, "timeout_millis": 10000}})

try:
    credentials({"file": TOKEN_FILE}, "spare").refresh(Request())
    raise AssertionError("a key without a grant was minted")
except GoogleAuthError as e:
    assert "invalid_target" in str(e) and "'spare'" in str(e), e

print("google-auth", google.auth.version.__version__, "google-cloud-storage", storage.__version__)
