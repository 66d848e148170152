// MCP's SDK asks a protected server who authorizes it, finds the broker by its metadata, and gets a
// token for the server with the workload's identity token (RFC 7523) and resource (RFC 8707).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { StaticPrivateKeyJwtProvider } from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import { auth } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const SERVER = "https://mcp.example.com";
const broker = process.env.MINTMARK_URL;

/** The MCP server, which is elsewhere: its metadata (RFC 9728), and 401 without the broker's token. */
function serving(path) {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== SERVER) {
      return fetch(input, init);
    }
    if (url.pathname === `/.well-known/oauth-protected-resource${path}`) {
      return Response.json({ resource: SERVER + path, authorization_servers: [broker] });
    }
    if (url.pathname.startsWith("/.well-known/")) {
      return new Response("", { status: 404 });
    }
    const token = new Headers(init?.headers).get("authorization");
    return token
      ? new Response(null, { status: 202, headers: { seen: token } })
      : new Response("", {
          status: 401,
          headers: {
            "WWW-Authenticate": `Bearer resource_metadata="${SERVER}/.well-known/oauth-protected-resource${path}"`,
          },
        });
  };
}

/** A workload: it has an identity token, and neither a browser nor a registration. */
class Workload {
  redirectUrl = undefined;
  clientMetadata = { redirect_uris: [], grant_types: [], token_endpoint_auth_method: "none" };

  clientInformation() {
    return { client_id: "workload", issuer: broker };
  }

  tokens() {
    return this.saved;
  }

  saveTokens(tokens) {
    this.saved = tokens;
  }

  redirectToAuthorization() {
    throw new Error("a workload has no browser");
  }

  saveCodeVerifier() {}

  codeVerifier() {
    throw new Error("a workload has no code");
  }
}

// the method that docs/clients/oauth2.md shows
const page = readFileSync(`${process.env.DOCUMENTS}/clients/oauth2.md`, "utf8");
const [, block] = page.match(/^```js\n(.*?)^```$/ms);
assert.match(block, /^prepareTokenRequest\(\) \{/);
Object.assign(Workload.prototype, new Function("readFileSync", `return {${block}};`)(readFileSync));

const workload = new Workload();
const result = await auth(workload, { serverUrl: `${SERVER}/orders`, fetchFn: serving("/orders") });
assert.equal(result, "AUTHORIZED");
assert.match(workload.saved.access_token, /^eyJ/);
assert.equal(workload.saved.token_type, "Bearer");

// a resource without a key is refused, in words
await assert.rejects(
  auth(new Workload(), { serverUrl: `${SERVER}/nothing`, fetchFn: serving("/nothing") }),
  (error) => {
    assert.match(String(error), /nothing/);
    return true;
  },
);

// the SDK's own provider for workloads, unchanged: the identity token authenticates the client (section 2.2)
const assertion = new StaticPrivateKeyJwtProvider({
  clientId: "workload",
  jwtBearerAssertion: readFileSync(process.env.MINTMARK_TOKEN_FILE, "utf8"),
  expectedIssuer: broker,
});
assert.equal(await auth(assertion, { serverUrl: `${SERVER}/orders`, fetchFn: serving("/orders") }), "AUTHORIZED");
assert.match(assertion.tokens().access_token, /^eyJ/);

// the transport does all of it by itself, when the server answers 401
const later = new Workload();
const transport = new StreamableHTTPClientTransport(new URL(`${SERVER}/orders`), {
  authProvider: later,
  fetch: serving("/orders"),
});
await transport.start();
await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
assert.match(later.saved.access_token, /^eyJ/);
await transport.close();

const installed = JSON.parse(
  readFileSync(new URL("node_modules/@modelcontextprotocol/sdk/package.json", import.meta.url)),
);
console.log("@modelcontextprotocol/sdk", installed.version);
