// The thin library for TypeScript (src/clients/typescript) mints, renews, retries and asks for access.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, Refused, Source } from "./mintmark.js";

const client = new Client();
const deploy = client.source("deploy");
const first = await deploy.credentials();
assert.match(first.AWS_ACCESS_KEY_ID, /^ASIA/);
assert.equal(await deploy.credentials(), first);
assert.ok((await client.keys()).some((key) => key.name === "api"));
await assert.rejects(client.source("spare").credentials(), (error: Refused) => {
  assert.equal(`${error.status} ${error.code} ${error.later}`, "403 FORBIDDEN false");
  return true;
});
const [asked] = await client.request(["spare"], "a test of the thin library", 3600);
assert.equal((await client.wait(asked.id, 0)).status, "pending");

// a broker that answers as the test says, one status after another, the last for ever
let statuses: number[] = [];
let end = "2001-01-01T00:16:40Z";
const calls: (string | undefined)[] = [];
const server = createServer((request, response) => {
  calls.push(request.headers["mintmark-actor-token"] as string | undefined);
  const status = statuses.length > 1 ? statuses.shift()! : statuses[0];
  const body =
    status === 200
      ? {
          credentials: { k: { N: String(calls.length) } },
          subject: "s",
          issuedAt: "2001-01-01T00:00:00Z", // far behind this machine's clock
          expiresAt: end,
        }
      : { error: "SERVICE_UNAVAILABLE", retryAfter: 0 };
  response.writeHead(status, { connection: "close" }).end(JSON.stringify(body));
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const { port } = server.address() as AddressInfo;
const fake = new Client({ url: `http://127.0.0.1:${port}`, token: () => "t", actorToken: () => "actor" });
let now = 0;
const source = new Source(fake, "k", () => now * 1000);

async function next(...given: number[]): Promise<string> {
  statuses = given;
  calls.length = 0;
  return (await source.credentials()).N;
}

assert.equal(await next(503, 429, 200), "3");
assert.deepEqual(calls, ["actor", "actor", "actor"]);
now = 599;
assert.equal(await next(200), "3");
assert.equal(calls.length, 0, "renewed too early");
now = 751;
assert.equal(await next(503), "3");
assert.equal(calls.length, 1, "a caller waited for a renewal");
now = 999;
assert.equal(await next(503), "3");
now = 1001;
assert.equal(await next(200), "1", "an ended credential was served");
now = 3000;
await assert.rejects(next(502), { status: 502 });
assert.equal(calls.length, 1, "502 was repeated");
statuses = [200];
calls.length = 0;
await Promise.all(Array.from({ length: 8 }, () => source.credentials()));
assert.equal(calls.length, 1);
// credentials that are over when they come are minted ever less often
end = "2000-12-31T23:59:55Z";
calls.length = 0;
for (now = 9000; now < 9300; now++) {
  await source.credentials();
}
assert.ok(calls.length <= 5, `${calls.length} mints`);
assert.throws(() => new Client({ url: "http://mintmark.example.com", token: () => "t" }), /https/);
server.close();
console.log("mintmark (TypeScript) 0.1.0");
