// MCP's SDK asks a protected server who authorizes it, finds the broker by its metadata, and gets a
// token for the server with the workload's identity token as a client assertion (RFC 7523 section 2.2)
// and resource (RFC 8707).

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

// the SDK's own provider for workloads, as docs/clients/oauth2.md shows it
const page = readFileSync(`${process.env.DOCUMENTS}/clients/oauth2.md`, "utf8");
const [, block] = page.match(/^```js\n(.*?)^```$/ms);
const body = block.replace(/^import .*$/gm, "").replace("https://mintmark.example.com", broker);
const provider = new Function("readFileSync", "StaticPrivateKeyJwtProvider", `${body}; return authProvider;`);
const workload = () => provider(readFileSync, StaticPrivateKeyJwtProvider);

const first = workload();
const result = await auth(first, { serverUrl: `${SERVER}/orders`, fetchFn: serving("/orders") });
assert.equal(result, "AUTHORIZED");
assert.match(first.tokens().access_token, /^eyJ/);
assert.equal(first.tokens().token_type, "Bearer");

// a resource without a key is refused, in words
await assert.rejects(
  auth(workload(), { serverUrl: `${SERVER}/nothing`, fetchFn: serving("/nothing") }),
  (error) => {
    assert.match(String(error), /nothing/);
    return true;
  },
);

// the transport does all of it by itself, when the server answers 401
const later = workload();
const transport = new StreamableHTTPClientTransport(new URL(`${SERVER}/orders`), {
  authProvider: later,
  fetch: serving("/orders"),
});
await transport.start();
await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
assert.match(later.tokens().access_token, /^eyJ/);
await transport.close();

const installed = JSON.parse(
  readFileSync(new URL("node_modules/@modelcontextprotocol/sdk/package.json", import.meta.url)),
);
console.log("@modelcontextprotocol/sdk", installed.version);
