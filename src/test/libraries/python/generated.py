"""A client that openapi-generator makes of docs/openapi.yaml lists keys and mints."""

import os
import pathlib

import mintmark_api
from mintmark_api.exceptions import ForbiddenException

BROKER = os.environ["MINTMARK_URL"]
TOKEN = pathlib.Path(os.environ["MINTMARK_TOKEN_FILE"]).read_text()

configuration = mintmark_api.Configuration(host=BROKER, access_token=TOKEN)
with mintmark_api.ApiClient(configuration) as client:
    api = mintmark_api.CredentialsApi(client)
    assert {key.name for key in api.list_keys().keys} >= {"api", "deploy"}
    minted = api.mint(mintmark_api.MintRequest(keys=["deploy", "api"]))
    assert minted.credentials["deploy"]["AWS_ACCESS_KEY_ID"].startswith("ASIA")
    assert minted.credentials["api"]["ACCESS_TOKEN"].startswith("eyJ")
    assert minted.subject == "ci:main"
    try:
        api.mint(mintmark_api.MintRequest(keys=["spare"]))
        raise AssertionError("a key without a grant was minted")
    except ForbiddenException as e:
        assert e.data.details.denied_keys == ["spare"], e

print("openapi-generator", mintmark_api.__version__)
