#!/usr/bin/env bash
# The step of the action: mints, masks every value, and only then hands the members on. Secrets are
# in no argument and in no here-string, which bash before 5.1 writes to a file.
{ set +xv; } 2>/dev/null
set -euo pipefail +o allexport
set -f

wrong_use() {
    echo "::error::$1"
    exit 2
}

case $MINTMARK_EXPORT in
    true | false) ;;
    *) wrong_use "'export' must be 'true' or 'false'" ;;
esac

arguments=()
for member in $MINTMARK_MEMBERS; do
    arguments+=("--member=$member")
done
for key in $MINTMARK_KEYS; do
    case $key in
        -*) wrong_use "'keys' must be names of keys, separated by spaces" ;;
    esac
    arguments+=("$key")
done

# Variables have one value, so nothing is minted if several keys have the same.
[ "$MINTMARK_EXPORT" = false ] || arguments+=("--distinct")

# The client accepts no member but the usual ones and those in 'members'. If the broker denies only keys for which the job may ask for access, asks, waits, and mints then.
client=$GITHUB_ACTION_PATH/mintmark-client # in the action's own repository
[ -f "$client" ] || client=$GITHUB_ACTION_PATH/../mintmark-client
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
mint() {
    "$client" get --format json "${arguments[@]}"
}

code=0
answer=$(mint 2>"$messages") || code=$?
cat "$messages" >&2
if [ "$code" != 0 ]; then
    requestable=$(sed -n 's/^.*run: mintmark-client request \(.*\) --reason TEXT .*$/\1/p' "$messages")
    [ -n "$MINTMARK_REQUEST_REASON" ] && [ -n "$requestable" ] || exit "$code"
    # shellcheck disable=SC2086 # a word for each key
    "$client" request $requestable --wait "--reason=$MINTMARK_REQUEST_REASON" "--for=$MINTMARK_REQUEST_FOR"
    answer=$(mint)
fi

of_answer() {
    printf '%s\n' "$answer" | jq --raw-output "$@"
}

# A workflow command is one line; the runner undoes these escapes. Values are masked whole, line by
# line, and as they are in JSON. Regions and times are public, and masking them would spoil every
# log and every output that contains them; a secret never has their form.
# shellcheck disable=SC2016 # these are jq's variables
of_answer '
    def is_public: .key as $name | .value
        | ($name == "AWS_REGION" or $name == "AWS_DEFAULT_REGION") and test("\\A[a-z]{2,4}(-[a-z]{3,10}){1,3}-[0-9]\\z")
            or ($name | endswith("_EXPIRY")) and test("\\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z\\z");
    def masked: "::add-mask::" + (gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A"));
    [.credentials[] | to_entries[] | select(is_public | not) | .value
        | ., (split("\n")[]), (tojson | .[1:-1]) | select(test("[^ \t]"))]
    | unique[] | masked
'

# A delimiter that no value can contain.
delimiter=mintmark-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')

assign() {
    # shellcheck disable=SC2016 # these are jq's variables
    of_answer --arg delimiter "$delimiter" "$1"' | "\(.key)<<\($delimiter)\n\(.value)\n\($delimiter)"'
}

if [ "$MINTMARK_EXPORT" = true ]; then
    # Members of several keys with the same name would overwrite each other.
    twice=$(of_answer '[.credentials[] | to_entries[]] | group_by(.key)
        | map(select((map(.value) | unique | length) > 1) | .[0].key) | join(", ")')
    if [ -n "$twice" ]; then
        wrong_use "several keys have $twice with different values; set export: 'false' and use the output 'credentials'"
    fi
    assign '.credentials[] | to_entries[]' >>"$GITHUB_ENV"
fi
assign '{key: "credentials", value: (.credentials | tojson)}, {key: "expires-at", value: (.expiresAt // "")}' >>"$GITHUB_OUTPUT"
