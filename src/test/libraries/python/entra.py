"""MSAL finds the broker as an identity provider and authenticates with the workload's identity token as a
client assertion (RFC 7523 section 2.2), as docs/clients/oauth2.md shows."""

import os
import pathlib
import re

import msal
import requests

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

print("MSAL", msal.__version__)
