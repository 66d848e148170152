#!/usr/bin/env bash
# What the action does: mints, masks every secret, and only then hands the members on.
{ set +xv; } 2>/dev/null
set -euo pipefail +o allexport
set -f

# What isn't secret, and would make logs and outputs unreadable if it were masked.
readonly PUBLIC='["AWS_REGION", "AWS_DEFAULT_REGION", "MINIO_ENDPOINT", "GOOGLE_PROJECT_ID",
    "GOOGLE_TOKEN_EXPIRY", "AZURE_TENANT_ID", "AZURE_TOKEN_EXPIRY", "TOKEN_EXPIRY"]'

case $MINTMARK_EXPORT in
    true | false) ;;
    *)
        echo "::error::'export' must be 'true' or 'false'"
        exit 2
        ;;
esac

# shellcheck disable=SC2086 # names of keys have no spaces in them
answer=$("$GITHUB_ACTION_PATH/../mintmark-client" get --format json $MINTMARK_KEYS)

# A workflow command is one line; the runner undoes these escapes, and masks each line of a value.
jq --raw-output --argjson public "$PUBLIC" '
    def masked: "::add-mask::" + (gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A"));
    [.credentials[] | to_entries[] | select(.key as $name | $public | index($name) | not) | .value
        | select(length > 0)]
    | map(., (tojson | .[1:-1])) | unique[] | masked
' <<<"$answer"

# A delimiter that no value can have foreseen.
delimiter=mintmark-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')

assign() {
    jq --raw-output --arg delimiter "$delimiter" "$1"' | "\(.key)<<\($delimiter)\n\(.value)\n\($delimiter)"' <<<"$answer"
}

if [ "$MINTMARK_EXPORT" = true ]; then
    # Members of several keys that are called the same would overwrite each other.
    twice=$(jq --raw-output '[.credentials[] | to_entries[]] | group_by(.key)
        | map(select((map(.value) | unique | length) > 1) | .[0].key) | join(", ")' <<<"$answer")
    if [ -n "$twice" ]; then
        echo "::error::several keys have $twice; take them from the output 'credentials' with export: 'false'"
        exit 2
    fi
    assign '.credentials[] | to_entries[]' >>"$GITHUB_ENV"
fi
assign '{key: "credentials", value: (.credentials | tojson)}, {key: "expires-at", value: .expiresAt}' >>"$GITHUB_OUTPUT"
