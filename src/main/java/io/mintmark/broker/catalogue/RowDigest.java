package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.canonical.StoredJson;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * The SHA-256 of what a decision uses of a row of {@code broker}, in hexadecimal digits. The broker
 * makes it of the row that it read, and a verifier of the row in {@code audit.config_change};
 * {@code docs/reference/audit-log-format.md} describes it.
 */
public final class RowDigest {
    private final CanonicalForm form;
    private final List<String> members;

    public static final RowDigest IDENTITY_PROVIDER =
            new RowDigest(
                    "mintmark identity_provider 1",
                    "issuer",
                    "audiences",
                    "jwks_uri",
                    "jwks",
                    "ca_certificate",
                    "algorithms",
                    "required_claims",
                    "clock_skew",
                    "max_token_age",
                    "one_time_tokens",
                    "token_types",
                    "accepts");

    public static final RowDigest ACCESS_PROVIDER =
            new RowDigest(
                    "mintmark access_provider 1",
                    "type",
                    "settings",
                    "allowed_targets",
                    "shared_identity");

    public static final RowDigest KEY =
            new RowDigest("mintmark key 1", "max_duration", "settings", "outputs");

    public static final RowDigest GRANT =
            new RowDigest(
                    "mintmark subject_grant 1",
                    "idp",
                    "subject",
                    "match",
                    "key",
                    "claims",
                    "actor_idp",
                    "actor",
                    "actor_match",
                    "actor_claims",
                    "valid_from",
                    "valid_until",
                    "max_duration");

    private RowDigest(String form, String... members) {
        this.form = new CanonicalForm(form);
        this.members = List.of(members);
    }

    /**
     * That of a row.
     *
     * @param row its columns as PostgreSQL makes JSON of them; {@code jsonb} may be text too
     */
    public String of(JsonNode row) {
        List<@Nullable String> fields = new ArrayList<>(members.size());
        for (String member : members) {
            fields.add(text(member, row.path(member)));
        }
        return form.hash(fields);
    }

    private static @Nullable String text(String member, JsonNode value) {
        if (value.isNull() || value.isMissingNode()) {
            return null;
        }
        if (member.startsWith("valid_")) {
            Instant at = OffsetDateTime.parse(value.asText()).toInstant();
            return Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, at));
        }
        return value.isTextual() ? value.textValue() : StoredJson.text(value);
    }
}
