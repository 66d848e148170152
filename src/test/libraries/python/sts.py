"""boto3 and the AWS CLI get credentials at /sdk/sts, by the environment and by a profile."""

import os
import pathlib
import subprocess
import sys
import tempfile

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

# the profile of docs/clients/aws.md: the address is for its sts alone
for variable in ("AWS_ENDPOINT_URL_STS", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"):
    del os.environ[variable]
with tempfile.TemporaryDirectory() as directory:
    config = pathlib.Path(directory, "config")
    config.write_text(
        f"""[profile broker]
role_arn = {ROLE}
web_identity_token_file = {TOKEN_FILE}
services = broker

[services broker]
sts =
  endpoint_url = {BROKER}/sdk/sts
"""
    )
    of_profile = {"AWS_CONFIG_FILE": str(config)}
    listed = cli("configure", "list", "--profile", "broker", **of_profile)
    assert "assume-role-with-web-identity" in listed.stdout, listed
    os.environ.update(of_profile)
    session = boto3.Session(profile_name="broker")
    assert session.get_credentials().get_frozen_credentials().access_key.startswith("ASIA")
    assert boto3.client("s3").meta.endpoint_url == "https://s3.eu-central-1.amazonaws.com"

print("boto3", boto3.__version__, "botocore", botocore.__version__)
