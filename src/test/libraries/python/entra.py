"""MSAL finds the broker as an identity provider and authenticates with the workload's identity token as a
client assertion (RFC 7523 section 2.2), as docs/clients/oauth2.md shows. azure-identity looks for no
identity provider, and the page says so."""

import os
import pathlib
import re

import azure.identity
import msal
import requests
from azure.core.pipeline.transport import RequestsTransport

BROKER = os.environ["MINTMARK_URL"]
NAME = "https://mintmark.example.com"
PAGE = pathlib.Path(os.environ["DOCUMENTS"], "clients", "oauth2.md").read_text()
BLOCK = next(block for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S) if "import msal" in block)


class Proxy:
    """MSAL accepts only an identity provider with HTTPS: this one is the broker by another name."""

    def get(self, url, **further):
        return self.answered(requests.get(url.replace(NAME, BROKER), **further))

    def post(self, url, **further):
        return self.answered(requests.post(url.replace(NAME, BROKER), **further))

    def answered(self, response):
        response._content = response.content.replace(BROKER.encode(), NAME.encode())
        return response

    def close(self):
        pass


class Msal:
    @staticmethod
    def ConfidentialClientApplication(*names, **further):
        return msal.ConfidentialClientApplication(*names, http_client=Proxy(), **further)


def token_of(key):
    block = BLOCK.replace("import msal\n", "").replace('"api"', repr(key))
    names = {"msal": Msal}
    exec(block.replace("/var/run/mintmark/token", os.environ["MINTMARK_TOKEN_FILE"]), names)
    return names["token"]


assert token_of("api")["access_token"].startswith("eyJ"), token_of("api")
refused = token_of("nothing")
assert refused["error"] == "invalid_target" and "nothing" in refused["error_description"], refused

SCOPE = "https://management.azure.com/.default"
refused = token_of(SCOPE)
assert refused["error"] == "invalid_target" and "the name of a key" in refused["error_description"], refused


class Sent(Exception):
    pass


class Recorder(RequestsTransport):
    def send(self, request, **_):
        raise Sent(request.method, request.url, request.body["grant_type"], request.body["scope"])


further = {"authority": NAME + "/tenants", "transport": Recorder(), "retry_total": 0}
for credential in (
    azure.identity.ClientAssertionCredential("acme", "any", lambda: "the.identity.token", **further),
    azure.identity.WorkloadIdentityCredential(
        tenant_id="acme", client_id="any", token_file_path=os.environ["MINTMARK_TOKEN_FILE"], **further
    ),
):
    try:
        credential.get_token(SCOPE)
        raise AssertionError("a token of nobody")
    except Sent as sent:
        assert sent.args == ("POST", NAME + "/tenants/acme/oauth2/v2.0/token", "client_credentials", SCOPE), sent

print("MSAL", msal.__version__, "azure-identity", azure.identity.__version__)
