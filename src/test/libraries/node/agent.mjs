// AWS's SDK, google-auth-library and @azure/identity get credentials of the agent by their default
// credentials, with nothing but the variables that it prints.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const agent = spawn(process.env.MINTMARK_CLIENT, ["agent", "deploy", "--azure", "entra", "--google", "cloud"], {
  stdio: ["ignore", "pipe", "inherit"],
});
let lines = 0;
for await (const line of createInterface({ input: agent.stdout })) {
  const at = line.indexOf("=");
  process.env[line.slice(0, at)] = line.slice(at + 1);
  if (++lines === 6) {
    break;
  }
}

try {
  const { STSClient } = await import("@aws-sdk/client-sts");
  const aws = await new STSClient({ region: "eu-central-1" }).config.credentials();
  assert.match(aws.accessKeyId, /^ASIA/);
  const { GoogleAuth } = await import("google-auth-library");
  const { DefaultAzureCredential } = await import("@azure/identity");
  const auth = new GoogleAuth({ scopes: "https://www.googleapis.com/auth/devstorage.read_only" });
  const { token } = await (await auth.getClient()).getAccessToken();
  assert.match(token, /^ya29\./);
  const azure = await new DefaultAzureCredential().getToken("https://management.azure.com/.default");
  assert.match(azure.token, /^the-entra-token-/);
} finally {
  agent.kill();
}

const version = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;
console.log("@aws-sdk/client-sts", version("@aws-sdk/client-sts"), "@azure/identity", version("@azure/identity"), "google-auth-library", version("google-auth-library"));
