// oauth4webapi finds the token endpoint by each of the two documents, and exchanges a token.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as oauth from "oauth4webapi";

const issuer = new URL(process.env.MINTMARK_URL);
const http = { [oauth.allowInsecureRequests]: true };
const client = { client_id: "any" };

async function exchange(algorithm, key) {
  const found = await oauth.discoveryRequest(issuer, { ...http, algorithm });
  const server = await oauth.processDiscoveryResponse(issuer, found);
  const response = await oauth.genericTokenEndpointRequest(
    server,
    client,
    oauth.None(),
    "urn:ietf:params:oauth:grant-type:token-exchange",
    {
      subject_token: readFileSync(process.env.MINTMARK_TOKEN_FILE, "utf8"),
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      audience: key,
      scope: "everything",
    },
    http,
  );
  return oauth.processGenericTokenEndpointResponse(server, client, response);
}

for (const algorithm of ["oauth2", "oidc"]) {
  const { access_token } = await exchange(algorithm, "api");
  assert.match(access_token, /^eyJ/);
}
await assert.rejects(exchange("oauth2", "nothing"), (error) => {
  assert.equal(error.error, "invalid_target");
  assert.match(error.error_description, /'nothing'/);
  return true;
});

const installed = JSON.parse(
  readFileSync(new URL("node_modules/oauth4webapi/package.json", import.meta.url)),
);
console.log("oauth4webapi", installed.version);
