// The AWS SDK for JavaScript gets credentials at /sdk/sts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";

process.env.AWS_ENDPOINT_URL_STS = process.env.MINTMARK_URL + "/sdk/sts";
process.env.AWS_WEB_IDENTITY_TOKEN_FILE = process.env.MINTMARK_TOKEN_FILE;
process.env.AWS_ROLE_ARN = "arn:aws:iam::000000000000:role/deploy";
process.env.AWS_REGION = "eu-central-1";

const client = new STSClient({});
const credentials = await client.config.credentials();
assert.match(credentials.accessKeyId, /^ASIA/);
assert.ok(credentials.expiration > new Date());

await assert.rejects(client.send(new GetCallerIdentityCommand({})), (error) => {
  assert.equal(error.name, "InvalidAction");
  assert.match(error.message, /unset AWS_ENDPOINT_URL_STS/);
  return true;
});

process.env.AWS_ROLE_ARN = "arn:aws:iam::000000000000:role/spare";
await assert.rejects(new STSClient({}).config.credentials(), (error) => {
  assert.equal(error.name, "AccessDenied");
  assert.match(error.message, /has no active grant for key 'spare'/);
  return true;
});

const installed = JSON.parse(
  readFileSync(new URL("node_modules/@aws-sdk/client-sts/package.json", import.meta.url)),
);
console.log("@aws-sdk/client-sts", installed.version);
