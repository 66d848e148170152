// google-auth-library gets tokens of a gcp key, as a user of GOOGLE_APPLICATION_CREDENTIALS.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GoogleAuth } from "google-auth-library";

const file = join(mkdtempSync(join(tmpdir(), "mintmark-")), "mintmark.json");
process.env.GOOGLE_APPLICATION_CREDENTIALS = file;
process.env.GOOGLE_CLOUD_PROJECT = "acme-prod";

async function token(key) {
  writeFileSync(
    file,
    JSON.stringify({
      type: "external_account",
      audience: "//mintmark/" + key,
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: process.env.MINTMARK_URL + "/oauth2/token",
      credential_source: { file: process.env.MINTMARK_TOKEN_FILE },
    }),
  );
  const auth = new GoogleAuth({ scopes: "https://www.googleapis.com/auth/devstorage.read_only" });
  return (await auth.getClient()).getAccessToken();
}

assert.ok((await token("cloud")).token);
await assert.rejects(token("spare"), /invalid_target.*'spare'/s);

const installed = JSON.parse(
  readFileSync(new URL("node_modules/google-auth-library/package.json", import.meta.url)),
);
console.log("google-auth-library", installed.version);
