package io.mintmark.auditor.reader;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.broker.catalogue.DocumentFields;
import io.mintmark.broker.catalogue.GrantRow;
import io.mintmark.broker.catalogue.IdentityProviderRow;
import io.mintmark.broker.catalogue.RowDigest;
import io.mintmark.broker.grant.Grant;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.Role;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A row of the history, reduced to the columns that decisions use. It is small, because a
 * verification keeps the rows of as many tenants in memory as possible. A column that the row's
 * table doesn't have is empty.
 *
 * @param accepts the roles that tokens of an identity provider may have
 * @param digest of what decisions use of it; the {@code external_id} of a tenant, and empty of a
 *     provider type
 * @param required the conditions of an identity provider on every token
 * @param size of the parts whose size isn't limited, in characters
 */
record PastRow(
        boolean isEnabled,
        boolean requiresSecondAdmin,
        boolean isApproved,
        String issuer,
        String provider,
        String type,
        Optional<Duration> maxDuration,
        Set<Role> accepts,
        String digest,
        Optional<Grant> grant,
        ClaimConditions required,
        int size) {
    /** The columns whose size isn't limited to a few words. */
    private static final List<String> LONG =
            List.of(
                    "issuer",
                    "required_claims",
                    "subject",
                    "claims",
                    "actor",
                    "actor_claims",
                    "networks");

    /** The tables that decisions rest on, and the columns that their rows are named by. */
    enum Table {
        TENANT("tenant", "name"),
        IDENTITY_PROVIDER("identity_provider", "name"),
        ACCESS_PROVIDER("access_provider", "name"),
        KEY("key", "name"),
        GRANT("subject_grant", "id"),
        PROVIDER_TYPE("provider_type", "type");

        private final String title;
        private final String name;

        Table(String title, String name) {
            this.title = title;
            this.name = name;
        }

        static Optional<Table> of(String title) {
            return Arrays.stream(values()).filter(it -> it.title.equals(title)).findFirst();
        }

        @Override
        public String toString() {
            return title;
        }

        /** Whether the table's rows apply to all tenants. */
        boolean isShared() {
            return this == PROVIDER_TYPE;
        }

        String name(JsonNode row) {
            return row.path(name).asText();
        }
    }

    /** Reads a row; empty if no broker could have used the row either. */
    static Optional<PastRow> of(Table table, String text) {
        try {
            JsonNode json = DocumentFields.json(text);
            return Optional.of(
                    switch (table) {
                        case TENANT -> plain(json, json.path("external_id").asText());
                        case IDENTITY_PROVIDER ->
                                row(
                                        json,
                                        RowDigest.IDENTITY_PROVIDER.of(json),
                                        Optional.empty(),
                                        IdentityProviderRow.conditions(
                                                json.path("required_claims")));
                        case ACCESS_PROVIDER -> plain(json, RowDigest.ACCESS_PROVIDER.of(json));
                        case PROVIDER_TYPE -> plain(json, "");
                        case KEY -> plain(json, RowDigest.KEY.of(json));
                        case GRANT -> granted(json, GrantRow.map(json));
                    });
        } catch (JsonProcessingException | IllegalArgumentException | DateTimeException e) {
            return Optional.empty();
        }
    }

    private static PastRow plain(JsonNode json, String digest) {
        return row(json, digest, Optional.empty(), ClaimConditions.NONE);
    }

    private static PastRow granted(JsonNode json, Grant grant) {
        return row(json, grant.digest(), Optional.of(grant), ClaimConditions.NONE);
    }

    private static PastRow row(
            JsonNode json, String digest, Optional<Grant> grant, ClaimConditions required) {
        return new PastRow(
                json.path("enabled").asBoolean(),
                json.path("require_second_admin").asBoolean(),
                json.hasNonNull("approved_at"),
                json.path("issuer").asText(),
                json.path("provider").asText(),
                json.path("type").asText(),
                DocumentFields.seconds(json, "max_duration"),
                roles(DocumentFields.texts(json, "accepts")),
                digest,
                grant,
                required,
                LONG.stream().mapToInt(column -> json.path(column).toString().length()).sum());
    }

    private static Set<Role> roles(List<String> accepts) {
        return Arrays.stream(Role.values())
                .filter(role -> accepts.contains(role.word()))
                .collect(Collectors.toUnmodifiableSet());
    }
}
