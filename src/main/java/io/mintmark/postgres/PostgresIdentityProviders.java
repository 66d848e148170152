package io.mintmark.postgres;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.grant.IdentityProviderStore;
import io.mintmark.token.IdentityProvider;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds identity providers by what stands in a token, through the index on their audiences. */
public final class PostgresIdentityProviders implements IdentityProviderStore {
    private static final String ENABLED =
            """
              FROM broker.identity_provider AS p
              JOIN broker.tenant AS t ON t.name = p.tenant AND t.enabled
             WHERE p.enabled\
            """;

    private static final String KNOWS =
            "SELECT cast(to_jsonb(EXISTS (SELECT "
                    + ENABLED
                    + " AND p.issuer = :issuer)) AS text) AS document";

    private static final String TRUSTING =
            "SELECT cast("
                    + BoundedRows.row("p.name", IdentityProviderRow.DOCUMENT)
                    + " AS text) AS document"
                    + ENABLED
                    + """
                       AND p.name IN (
                           SELECT a.idp
                             FROM runtime.trusted_audience AS a
                            WHERE a.issuer = :issuer
                              AND a.audience = ANY (cast(:audiences AS text[])))
                     ORDER BY p.name
                    """;

    private static final String LISTED =
            "SELECT cast("
                    + BoundedRows.row("p.name", IdentityProviderRow.DOCUMENT)
                    + " AS text) AS document"
                    + ENABLED
                    + " AND p.listed";

    private static final String LISTED_OF = LISTED + " AND p.issuer = :issuer ORDER BY p.name";
    private static final String ALL_LISTED = LISTED + " ORDER BY p.name";

    /** Times of changes tell them apart, also from those of another history. */
    private static final String FINGERPRINT =
            """
            SELECT cast(to_jsonb(concat_ws(' ',
                       (SELECT sum(hashtextextended(p.name,
                                       cast(extract(epoch FROM p.updated_at) * 1000000 AS bigint)))
                          FROM broker.identity_provider AS p),
                       (SELECT sum(hashtextextended(t.name,
                                       cast(extract(epoch FROM t.updated_at) * 1000000 AS bigint)))
                          FROM broker.tenant AS t))) AS text) AS document
            """;

    private final Documents documents;

    public PostgresIdentityProviders(Database database) {
        this.documents = new Documents(database.reading());
    }

    @Override
    public boolean knows(String issuer) {
        return documents.read(KNOWS, Map.of("issuer", issuer)).getFirst().booleanValue();
    }

    /** An audience with U+0000, which PostgreSQL can't hold, is no provider's. */
    @Override
    public List<IdentityProvider> trusting(String issuer, Set<String> audiences) {
        String[] possible =
                audiences.stream()
                        .filter(audience -> audience.indexOf('\0') < 0)
                        .toArray(String[]::new);
        return possible.length == 0
                ? List.of()
                : map(documents.read(TRUSTING, Map.of("issuer", issuer, "audiences", possible)));
    }

    @Override
    public List<IdentityProvider> listed(String issuer) {
        return map(documents.read(LISTED_OF, Map.of("issuer", issuer)));
    }

    @Override
    public List<IdentityProvider> listed() {
        return map(documents.read(ALL_LISTED, Map.of()));
    }

    @Override
    public String fingerprint() {
        return documents.read(FINGERPRINT, Map.of()).getFirst().asText();
    }

    private static List<IdentityProvider> map(List<JsonNode> rows) {
        return Documents.each(rows, "identity provider", IdentityProviderRow::map);
    }
}
