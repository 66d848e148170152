"""Authlib exchanges an identity token for a key's access token."""

import os
import pathlib
import re

import authlib
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session

BROKER = os.environ["MINTMARK_URL"]
TOKEN = pathlib.Path(os.environ["MINTMARK_TOKEN_FILE"]).read_text()


def exchange(key, **further):
    session = OAuth2Session(client_id="any", token_endpoint_auth_method="none")
    return session.fetch_token(
        BROKER + "/oauth2/token",
        grant_type="urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token=TOKEN,
        subject_token_type="urn:ietf:params:oauth:token-type:jwt",
        audience=key,
        **further,
    )


# the lines of docs/clients/oauth2.md
page = pathlib.Path(os.environ["DOCUMENTS"], "clients", "oauth2.md").read_text()
block = re.search("```python\n(from authlib.*?)```", page, re.DOTALL).group(1)
names = {"identity_token": TOKEN}
exec(block.replace("https://mintmark.example.com", BROKER), names)
assert names["token"]["access_token"].startswith("eyJ")

assert exchange("api")["access_token"].startswith("eyJ")
assert exchange("https://mintmark.example.com/api", scope="everything")["token_type"] == "Bearer"
try:
    exchange("nothing")
    raise AssertionError("an unknown key was minted")
except OAuthError as e:
    assert e.error == "invalid_target" and "'nothing'" in e.description, e

print("Authlib", authlib.__version__)
