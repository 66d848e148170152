"""MSAL and azure-identity authenticate with the workload's identity token as a client assertion (RFC 7523
section 2.2), as docs/clients/oauth2.md shows. MSAL finds the broker as an identity provider; azure-identity
looks for none, and sends its request to a path below the authority."""

import os
import pathlib
import re

import azure.identity
import msal
import requests
from azure.core.exceptions import ClientAuthenticationError
from azure.core.pipeline.transport import RequestsTransport

BROKER = os.environ["MINTMARK_URL"]
NAME = "https://mintmark.example.com"
PAGE = pathlib.Path(os.environ["DOCUMENTS"], "clients", "oauth2.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
FILE = os.environ["MINTMARK_TOKEN_FILE"]


def block(word):
    """What the page shows of a library, with the file of the identity token."""
    shown = next(block for block in BLOCKS if word in block)
    assert "/var/run/mintmark/token" in shown, shown
    return shown.replace("/var/run/mintmark/token", FILE)


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
    names = {"msal": Msal}
    exec(block("import msal").replace("import msal\n", "").replace('"api"', repr(key)), names)
    return names["token"]


assert token_of("api")["access_token"].startswith("eyJ"), token_of("api")
refused = token_of("nothing")
assert refused["error"] == "invalid_target" and "nothing" in refused["error_description"], refused

SCOPE = "https://management.azure.com/.default"
ENTRA = "the-entra-token-"
assert token_of(SCOPE)["access_token"].startswith(ENTRA), token_of(SCOPE)


class Https(RequestsTransport):
    """As Proxy, for azure-identity, which accepts no authority without HTTPS either."""

    def send(self, request, **further):
        assert request.url.startswith(NAME + "/"), request.url
        request.url = request.url.replace(NAME, BROKER)
        return super().send(request, **further)


def credential(kind, **further):
    return kind(transport=Https(), retry_total=0, **further)


def refusal(unfit, scope):
    try:
        unfit.get_token(scope)
    except ClientAuthenticationError as refused:
        return str(refused)
    raise AssertionError("a token for " + scope)


names = {"WorkloadIdentityCredential": lambda **shown: credential(azure.identity.WorkloadIdentityCredential, **shown)}
exec(re.sub("^from .*", "", block("WorkloadIdentityCredential"), flags=re.M), names)
workload = names["credential"]
assert names["token"].token.startswith(ENTRA), names["token"]

place = {"authority": NAME + "/tenants", "client_id": "any", "func": pathlib.Path(FILE).read_text}
assertion = credential(azure.identity.ClientAssertionCredential, tenant_id="acme", **place)
os.environ.update(
    AZURE_AUTHORITY_HOST=NAME + "/tenants", AZURE_TENANT_ID="acme", AZURE_CLIENT_ID="any", AZURE_FEDERATED_TOKEN_FILE=FILE
)
default = credential(azure.identity.DefaultAzureCredential)

for fit in workload, assertion, default:
    assert fit.get_token(SCOPE).token.startswith(ENTRA), fit
    assert fit.get_token("api/.default").token.startswith("eyJ"), fit
for unfit in workload, assertion:
    for missing in "nothing", "https://nothing.example.com":
        assert missing in refusal(unfit, missing + "/.default"), refusal(unfit, missing + "/.default")
stranger = credential(azure.identity.ClientAssertionCredential, tenant_id="other", **place)
assert "use /tenants/acme" in refusal(stranger, SCOPE), refusal(stranger, SCOPE)

print("MSAL", msal.__version__, "azure-identity", azure.identity.__version__)
