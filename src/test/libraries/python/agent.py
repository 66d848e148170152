"""google-auth and azure-identity get tokens of the agent by their default credentials, with nothing but
the variables that it prints."""

import os
import subprocess

agent = subprocess.Popen(
    [os.environ["MINTMARK_CLIENT"], "agent", "--azure", "entra", "--google", "cloud"],
    stdout=subprocess.PIPE,
    text=True,
)
for _ in range(4):
    name, value = agent.stdout.readline().rstrip("\n").split("=", 1)
    os.environ[name] = value

# they read variables when they are imported
import azure.identity  # noqa: E402
import google.auth  # noqa: E402
import google.auth.version  # noqa: E402
from google.auth.transport.requests import Request  # noqa: E402

try:
    credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/devstorage.read_only"])
    credentials.refresh(Request())
    assert credentials.valid and credentials.token.startswith("ya29."), credentials
    token = azure.identity.DefaultAzureCredential().get_token("https://management.azure.com/.default")
    assert token.token.startswith("the-entra-token-"), token.token[:10]
finally:
    agent.terminate()

print("azure-identity", azure.identity.__version__, "google-auth", google.auth.version.__version__)
