// A client that openapi-generator makes of docs/openapi.yaml for fetch mints.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import api from "./api/compiled/index.js";

const token = readFileSync(process.env.MINTMARK_TOKEN_FILE, "utf8");
const { Configuration, CredentialsApi } = api;
const client = new CredentialsApi(new Configuration({ basePath: process.env.MINTMARK_URL, accessToken: token }));
const minted = await client.mint({ mintRequest: { keys: new Set(["deploy"]) } });
assert.match(minted.credentials.deploy.AWS_ACCESS_KEY_ID, /^ASIA/);
await assert.rejects(client.mint({ mintRequest: { keys: new Set(["spare"]) } }), (error) => error.response.status === 403);
console.log("openapi-generator typescript-fetch 7.18.0");
