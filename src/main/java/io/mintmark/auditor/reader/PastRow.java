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
import java.util.Arrays;
import java.util.Optional;

/**
 * A row of a table that decisions rest on, as the history has it.
 *
 * @param digest of what decisions use of it; the {@code external_id} of a tenant, and empty of a
 *     provider type
 * @param required the conditions of an identity provider on every token
 */
record PastRow(
        JsonNode json,
        boolean isEnabled,
        String digest,
        Optional<Grant> grant,
        ClaimConditions required) {

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
        return new PastRow(json, json.path("enabled").asBoolean(), digest, grant, required);
    }

    /** Whether the tokens of an identity provider may identify a party in this role. */
    boolean accepts(Role role) {
        return DocumentFields.texts(json, "accepts").contains(role.word());
    }

    String text(String column) {
        return json.path(column).asText();
    }
}
