package io.mintmark.development;

/** What is printed once everything is up: lines to paste into another terminal. */
final class Welcome {
    private Welcome() {}

    static String text(
            String broker,
            String console,
            String identityProvider,
            String storage,
            DemoDatabase database) {
        return """

        Mintmark is up. Paste these into another terminal:

        # 1. an identity token, of any subject you like
        TOKEN=$(curl -s '%2$s/token?sub=ci:demo')

        # 2. the keys that this subject may have
        curl -s -H "Authorization: Bearer $TOKEN" %1$s/credentials/keys; echo

        # 3. mint one
        MINTED=$(curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
            -d '{"keys":["demo-api"]}' %1$s/credentials/mint); echo "$MINTED"

        # 4. use it: a service that trusts the tenant's issuer lets you in
        curl -s -H "Authorization: Bearer $(echo "$MINTED" | sed 's/.*"ACCESS_TOKEN":"\\([^"]*\\)".*/\\1/')" \\
            %2$s/api

        # 5. the audit log says who got what, and under which grant
        curl -s %2$s/audit

        Or look at it: the console is at %5$s (one click logs in as an admin,
        an auditor, or the lead of the demo tenant, for whom a request waits)

        No glue (docs/clients.md says more):

        # the shell client: a command that has the credential as variables
        MINTMARK_URL=%1$s MINTMARK_TOKEN="$TOKEN" src/clients/mintmark-client exec demo-api -- \\
            sh -c 'curl -s -H "Authorization: Bearer $ACCESS_TOKEN" %2$s/api'

        # an AWS SDK, here the AWS CLI (or boto3, Java, Go, JavaScript), gets it by itself
        AWS_CONTAINER_CREDENTIALS_FULL_URI=%1$s/sdk/aws/demo-bucket \\
            AWS_CONTAINER_AUTHORIZATION_TOKEN="$TOKEN" AWS_DEFAULT_REGION=us-east-1 \\
            aws --endpoint-url %4$s s3 cp s3://demo-bucket/hello.txt -

        # an OAuth 2.0 client exchanges its token (RFC 8693)
        curl -s %1$s/oauth2/token -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\
            -d subject_token_type=urn:ietf:params:oauth:token-type:jwt -d audience=demo-api \\
            -d subject_token="$TOKEN"; echo

        PostgreSQL is on port %3$d. Log in as alice or ben (platform admins), lea (admin of the
        tenant 'demo') or audrey (auditor), each with the password 'mintmark':
        psql postgresql://alice:mintmark@localhost:%3$d/postgres -v SHOW_CONTEXT=never \\
            -c 'SELECT id, tenant, subject, key, enabled FROM broker.subject_grant'
        psql postgresql://lea:mintmark@localhost:%3$d/postgres -v SHOW_CONTEXT=never \\
            -c "INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES ('demo', 'demo-idp', 'laptop:eve', 'demo-api', 'for trying out')"
        psql postgresql://audrey:mintmark@localhost:%3$d/postgres -v SHOW_CONTEXT=never \\
            -c 'SELECT requested_at, tenant, subject, key, outcome FROM audit.mint ORDER BY mint_id DESC LIMIT 10'

        The line of JSON that comes each minute seals the audit log (docs/audit.md). Rows of the
        broker 'demo-backdated' were written at the first start, for the month before it.
        Ctrl-C stops everything. The database and the keys are kept in .mintmark/.
        """
                .formatted(broker, identityProvider, database.port(), storage, console);
    }
}
