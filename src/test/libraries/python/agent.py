"""boto3, google-auth and azure-identity get credentials of the agent by their default credentials, with
nothing but the variables that it prints."""

import os
import subprocess

agent = subprocess.Popen(
    [os.environ["MINTMARK_CLIENT"], "agent", "deploy", "--azure", "entra", "--google", "cloud"],
    stdout=subprocess.PIPE,
    text=True,
)
for _ in range(6):
    name, value = agent.stdout.readline().rstrip("\n").split("=", 1)
    os.environ[name] = value

# they read variables when they are imported
import azure.identity  # noqa: E402
import boto3  # noqa: E402
import google.auth  # noqa: E402
import google.auth.version  # noqa: E402
from google.auth.transport.requests import Request  # noqa: E402

try:
    aws = boto3.Session().get_credentials()
    assert aws.method == "container-role", aws.method
    assert aws.get_frozen_credentials().access_key.startswith("ASIA")
    credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/devstorage.read_only"])
    credentials.refresh(Request())
    assert credentials.valid and credentials.token.startswith("ya29."), credentials
    token = azure.identity.DefaultAzureCredential().get_token("https://management.azure.com/.default")
    assert token.token.startswith("the-entra-token-"), token.token[:10]
finally:
    agent.terminate()

print("boto3", boto3.__version__, "azure-identity", azure.identity.__version__, "google-auth", google.auth.version.__version__)
