package io.mintmark.postgres.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.ClaimConditions;
import io.mintmark.token.IdentityProvider;
import io.mintmark.token.KeySource;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A row of {@code broker.identity_provider}, by the alias {@code p}, as JSON. */
public final class IdentityProviderRow {
    static final String KIND = "identity_provider";

    static final String DOCUMENT =
            BoundedRows.document(
                    """
                    jsonb_build_object(
                        'name', p.name, 'tenant', p.tenant, 'issuer', p.issuer, 'audiences', p.audiences,
                        'jwks_uri', p.jwks_uri, 'jwks', cast(p.jwks AS text),
                        'ca_certificate', p.ca_certificate, 'algorithms', p.algorithms,
                        'required_claims', p.required_claims, 'clock_skew', p.clock_skew,
                        'max_token_age', p.max_token_age, 'one_time_tokens', p.one_time_tokens,
                        'listed', p.listed)\
                    """,
                    "p.issuer",
                    "p.audiences",
                    "p.jwks_uri",
                    "p.jwks",
                    "p.ca_certificate",
                    "p.required_claims");

    /** The enabled ones of a tenant, by the alias {@code t}. */
    static final String ROWS =
            BoundedRows.of(
                    KIND,
                    "p.name",
                    DOCUMENT,
                    "FROM broker.identity_provider AS p WHERE p.tenant = t.name AND p.enabled");

    private IdentityProviderRow() {}

    static IdentityProvider map(JsonNode row) {
        String issuer = row.path("issuer").asText();
        return new IdentityProvider(
                new IdpName(row.path("name").asText()),
                new TenantName(row.path("tenant").asText()),
                issuer,
                Documents.texts(row, "audiences"),
                keys(row, issuer),
                Set.copyOf(Documents.texts(row, "algorithms")),
                conditions(row.path("required_claims")),
                Documents.seconds(row, "clock_skew").orElse(Duration.ZERO),
                Documents.seconds(row, "max_token_age"),
                row.path("one_time_tokens").booleanValue(),
                row.path("listed").booleanValue(),
                RowDigest.IDENTITY_PROVIDER.of(row));
    }

    private static KeySource keys(JsonNode row, String issuer) {
        Optional<String> jwks = Documents.text(row, "jwks");
        return new KeySource(
                issuer,
                jwks,
                Documents.text(row, "jwks_uri"),
                Documents.text(row, "ca_certificate"));
    }

    public static ClaimConditions conditions(JsonNode claims) {
        Map<String, JsonNode> byClaim = new HashMap<>();
        claims.properties().forEach(claim -> byClaim.put(claim.getKey(), claim.getValue()));
        return new ClaimConditions(byClaim);
    }
}
