package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.KeySource;
import io.mintmark.broker.token.Role;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** A row of {@code broker.identity_provider}, by the alias {@code p}, as JSON. */
public final class IdentityProviderRow {
    static final String KIND = "identity_provider";

    static final String DOCUMENT =
            BoundedRows.document(
                    "("
                            + RowDigest.columns("p")
                            + ") || jsonb_build_object('jwks', cast(p.jwks AS text))",
                    "p.issuer",
                    "p.audiences",
                    "p.jwks_uri",
                    "p.jwks",
                    "p.ca_certificate",
                    "p.token_types",
                    "p.required_claims");

    /** Selects the enabled identity providers of a tenant, by the alias {@code t}. */
    static final String ROWS =
            BoundedRows.of(
                    KIND,
                    "p.name",
                    DOCUMENT,
                    "FROM broker.identity_provider AS p WHERE p.tenant = t.name AND p.enabled");

    private IdentityProviderRow() {}

    public static IdentityProvider map(JsonNode row) {
        String issuer = row.path("issuer").asText();
        return new IdentityProvider(
                new IdpName(row.path("name").asText()),
                new TenantName(row.path("tenant").asText()),
                issuer,
                DocumentFields.texts(row, "audiences"),
                keys(row, issuer),
                Set.copyOf(DocumentFields.texts(row, "algorithms")),
                Set.copyOf(DocumentFields.texts(row, "token_types")),
                conditions(row.path("required_claims")),
                DocumentFields.seconds(row, "clock_skew").orElse(Duration.ZERO),
                DocumentFields.seconds(row, "max_token_age"),
                row.path("one_time_tokens").booleanValue(),
                DocumentFields.texts(row, "accepts").stream()
                        .map(Role::of)
                        .collect(Collectors.toSet()),
                row.path("listed").booleanValue(),
                RowDigest.IDENTITY_PROVIDER.of(row));
    }

    private static KeySource keys(JsonNode row, String issuer) {
        Optional<String> jwks = DocumentFields.text(row, "jwks");
        return new KeySource(
                issuer,
                jwks,
                DocumentFields.text(row, "jwks_uri"),
                DocumentFields.text(row, "ca_certificate"));
    }

    public static ClaimConditions conditions(JsonNode claims) {
        Map<String, JsonNode> byClaim = new HashMap<>();
        claims.properties().forEach(claim -> byClaim.put(claim.getKey(), claim.getValue()));
        return new ClaimConditions(byClaim);
    }
}
