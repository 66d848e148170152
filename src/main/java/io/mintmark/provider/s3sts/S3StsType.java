package io.mintmark.provider.s3sts;

import static io.mintmark.base.credential.CredentialType.shellWord;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** Credentials of S3-compatible storage. */
public final class S3StsType implements CredentialType {

    @Override
    public String name() {
        return "s3-sts";
    }

    @Override
    public Set<String> fields() {
        return Set.of("AccessKeyId", "SecretAccessKey", "SessionToken", "Endpoint", "Expiration");
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "MINIO_ACCESS_KEY", "AccessKeyId",
                "MINIO_SECRET_KEY", "SecretAccessKey",
                "MINIO_SESSION_TOKEN", "SessionToken",
                "MINIO_ENDPOINT", "Endpoint");
    }

    @Override
    public String earlyEnd() {
        return "In MinIO, add to the policies of the key a statement that denies access by the jti of the broker's token; mintmark block-subject prints this statement. For other storage, no way to end a credential early is known.";
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(one -> one.endpoint().orElse("its storage"), credentials)
                .entrySet()
                .stream()
                .map(storage -> ofStorage(storage.getKey(), storage.getValue()))
                .toList();
    }

    private static ManualRevocation ofStorage(String endpoint, List<ActiveCredential> credentials) {
        return ManualRevocation.of(
                endpoint,
                credentials,
                "MinIO evaluates its policies at each request. Add this statement to the policies"
                        + " that these keys get (mc admin policy create ALIAS NAME FILE):",
                denial(credentials),
                "Remove the statement after the last credential has expired. For other storage, no way to end a credential early is known.");
    }

    /** MinIO keeps the claims of the token for which it gave a credential. */
    private static String denial(List<ActiveCredential> credentials) {
        ObjectNode statement = JsonNodeFactory.instance.objectNode();
        statement.put("Effect", "Deny");
        statement.putArray("Action").add("s3:*");
        statement.putArray("Resource").add("arn:aws:s3:::*");
        ArrayNode tokens =
                statement.putObject("Condition").putObject("StringEquals").putArray("jwt:jti");
        credentials.forEach(one -> tokens.add(one.mintId().toString()));
        return statement.toString();
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "The storage's audit log: accessKey is the credential id.",
                mint.credentialId()
                        .map(id ->
                                "KEY=%s jq -c 'select(.accessKey == env.KEY)' audit.jsonl"
                                        .formatted(shellWord(id))));
    }
}
