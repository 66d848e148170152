package io.mintmark.console.pages;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * Where the provider's own log tells of a mint.
 *
 * @param where in words
 * @param command a line that looks there, if there is one for all
 */
record CloudLog(String where, Optional<String> command) {

    /** For a mint that may have made a credential; refusals never reached a provider. */
    static Optional<CloudLog> of(Mint mint) {
        return mint.line().providerType().map(type -> of(type, mint));
    }

    private static CloudLog of(String type, Mint mint) {
        MintLine line = mint.line();
        Optional<String> credential = line.credentialId().map(CloudLog::shell);
        return switch (type) {
            case "aws-sts" ->
                    new CloudLog(
                            "CloudTrail: the role session's name holds the mint id, and each call"
                                    + " the access key id.",
                            credential.map(
                                    "aws cloudtrail lookup-events --lookup-attributes AttributeKey=AccessKeyId,AttributeValue=%s"
                                            ::formatted));
            case "s3-sts" ->
                    new CloudLog(
                            "The storage's audit log: accessKey is the credential's id.",
                            credential.map(
                                    "KEY=%s jq -c 'select(.accessKey == env.KEY)' audit.jsonl"
                                            ::formatted));
            case "gcp" ->
                    new CloudLog(
                            "Cloud Audit Logs: GenerateAccessToken carries the mint id as its"
                                    + " reason; later calls name tenant and key as their subject.",
                            Optional.of(
                                    "gcloud logging read %s --format json"
                                            .formatted(shell(google(line)))));
            case "azure" ->
                    new CloudLog(
                            "Entra's sign-in logs of service principals, by the client id and the"
                                    + " time: Entra doesn't carry the mint id.",
                            Optional.empty());
            default ->
                    new CloudLog(
                            "The service's own log: the token's SHA-256 is the credential's id, and"
                                    + " the broker's token to it has the mint id as its jti.",
                            Optional.empty());
        };
    }

    private static String google(MintLine line) {
        Instant from = line.at().truncatedTo(ChronoUnit.SECONDS).minusSeconds(60);
        Instant to =
                line.expiresAt()
                        .orElse(line.at().plusSeconds(3600))
                        .truncatedTo(ChronoUnit.SECONDS);
        return "protoPayload.authenticationInfo.principalSubject:\"/subject/tenant:%s:key:%s\" AND timestamp>=\"%s\" AND timestamp<=\"%s\""
                .formatted(line.tenant().orElse(""), line.key().orElse(""), from, to);
    }

    /** One word of a POSIX shell. */
    static String shell(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
