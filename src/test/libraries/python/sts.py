"""boto3 and the AWS CLI get credentials at /sdk/sts, by the environment and by a profile."""

import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import boto3
import botocore
from botocore.exceptions import ClientError

BROKER = os.environ["MINTMARK_URL"]
TOKEN_FILE = os.environ["MINTMARK_TOKEN_FILE"]
ROLE = "arn:aws:iam::000000000000:role/deploy"
CLI = pathlib.Path(sys.executable).with_name("aws")

os.environ.update(
    AWS_ENDPOINT_URL_STS=BROKER + "/sdk/sts",
    AWS_WEB_IDENTITY_TOKEN_FILE=TOKEN_FILE,
    AWS_ROLE_ARN=ROLE,
    AWS_DEFAULT_REGION="eu-central-1",
)


def cli(*arguments, **environment):
    return subprocess.run(
        [CLI, *arguments], env=os.environ | environment, capture_output=True, text=True, check=False
    )


credentials = boto3.Session().get_credentials()
assert credentials.method == "assume-role-with-web-identity", credentials.method
assert credentials.get_frozen_credentials().access_key.startswith("ASIA")

try:
    boto3.client("sts").get_caller_identity()
    raise AssertionError("a signed call got an answer")
except ClientError as e:
    assert e.response["Error"]["Code"] == "InvalidAction", e
    assert "unset AWS_ENDPOINT_URL_STS" in str(e), e

os.environ["AWS_ROLE_ARN"] = "arn:aws:iam::000000000000:role/spare"
try:
    boto3.Session().get_credentials().get_frozen_credentials()
    raise AssertionError("a key without a grant was minted")
except ClientError as e:
    assert e.response["Error"]["Code"] == "AccessDenied", e
    assert "has no active grant for key 'spare'" in str(e), e
os.environ["AWS_ROLE_ARN"] = ROLE

assert "assume-role-with-web-identity" in cli("configure", "list").stdout
refused = cli("sts", "get-caller-identity")
assert "InvalidAction" in refused.stderr and "unset AWS_ENDPOINT_URL_STS" in refused.stderr, refused


class Bucket(http.server.BaseHTTPRequestHandler):
    """Lists one bucket to requests that a credential of the broker signed."""

    keys = []

    def do_GET(self):
        signed = re.match("AWS4-HMAC-SHA256 Credential=(ASIA[^/]*)/", self.headers.get("Authorization", ""))
        self.keys.append(signed and self.headers.get("X-Amz-Security-Token") and signed[1])
        body = (
            b"<ListAllMyBucketsResult><Buckets><Bucket><Name>reports</Name>"
            b"<CreationDate>2026-01-01T00:00:00.000Z</CreationDate></Bucket></Buckets></ListAllMyBucketsResult>"
        )
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# the profiles of docs/clients/aws.md, which work without the variables
for variable in ("AWS_ENDPOINT_URL_STS", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"):
    del os.environ[variable]
page = pathlib.Path(os.environ["DOCUMENTS"], "clients", "aws.md").read_text()
blocks = re.findall("```ini\n(# ~/.aws/config\n.*?)```", page, re.DOTALL)
assert len(blocks) == 2, blocks
storage = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
threading.Thread(target=storage.serve_forever, daemon=True).start()
os.environ["AWS_ENDPOINT_URL_S3"] = f"http://127.0.0.1:{storage.server_address[1]}"
os.environ["PATH"] = f"{pathlib.Path(os.environ['MINTMARK_CLIENT']).parent}:{os.environ['PATH']}"
with tempfile.TemporaryDirectory() as directory:
    config = pathlib.Path(directory, "config")
    for block, profile in zip(blocks, ("deploy", "broker")):
        config.write_text(
            block.replace("https://mintmark.example.com", BROKER).replace("/var/run/mintmark/token", TOKEN_FILE)
        )
        if profile == "deploy" and BROKER.startswith("https:"):
            continue  # the client trusts authorities by CURL_CA_BUNDLE
        shown = cli("s3", "ls", "--profile", profile, AWS_CONFIG_FILE=str(config))
        assert shown.returncode == 0 and shown.stdout.strip().endswith("reports"), shown
    assert Bucket.keys and all(Bucket.keys), Bucket.keys
    del os.environ["AWS_ENDPOINT_URL_S3"]

    # the address of the second is for its sts alone
    of_profile = {"AWS_CONFIG_FILE": str(config)}
    listed = cli("configure", "list", "--profile", "broker", **of_profile)
    assert "assume-role-with-web-identity" in listed.stdout, listed
    os.environ.update(of_profile)
    session = boto3.Session(profile_name="broker")
    assert session.get_credentials().get_frozen_credentials().access_key.startswith("ASIA")
    assert boto3.client("s3").meta.endpoint_url == "https://s3.eu-central-1.amazonaws.com"

print("boto3", boto3.__version__, "botocore", botocore.__version__)
