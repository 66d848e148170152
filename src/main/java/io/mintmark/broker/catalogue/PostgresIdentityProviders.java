package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Database;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.grant.IdentityProviderStore;
import io.mintmark.broker.grant.IssuerIndex.Entry;
import io.mintmark.broker.grant.IssuerIndex.Version;
import io.mintmark.broker.token.IdentityProvider;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads identity providers: what the index of all takes, and single rows by name. */
public final class PostgresIdentityProviders implements IdentityProviderStore {
    private static final String WHAT = "identity provider";

    private static final String ENABLED =
            """
              FROM broker.identity_provider AS p
              JOIN broker.tenant AS t ON t.name = p.tenant AND t.enabled
             WHERE p.enabled\
            """;

    /** Differs after each change of a row, also from that of another history. */
    private static final String VERSION =
            "hashtextextended(concat_ws(' ', p.xmin, p.updated_at), 0)";

    private static final String ENTRIES =
            "SELECT cast("
                    + BoundedRows.row(
                            "p.name",
                            BoundedRows.document(
                                    "jsonb_build_object('name', p.name, 'version', "
                                            + VERSION
                                            + ", 'issuer', p.issuer, 'audiences', p.audiences,"
                                            + " 'listed', p.listed)",
                                    "p.issuer",
                                    "p.audiences"))
                    + " AS text) AS document"
                    + ENABLED
                    + " ORDER BY p.name";

    private static final String PROVIDER =
            "SELECT cast("
                    + BoundedRows.row("p.name", IdentityProviderRow.DOCUMENT)
                    + " AS text) AS document"
                    + ENABLED
                    + " AND p.name = :name";

    private static final String FINGERPRINT =
            """
            SELECT cast(to_jsonb(concat_ws(' ',
                       (SELECT sum(hashtextextended(p.name, %s))
                          FROM broker.identity_provider AS p),
                       (SELECT sum(hashtextextended(t.name,
                                       hashtextextended(concat_ws(' ', t.xmin, t.updated_at), 0)))
                          FROM broker.tenant AS t))) AS text) AS document
            """
                    .formatted(VERSION);

    private final Documents documents;

    public PostgresIdentityProviders(Database database) {
        this.documents = new Documents(database.reading());
    }

    @Override
    public List<Entry> entries() {
        return documents.each(ENTRIES, WHAT, PostgresIdentityProviders::entry);
    }

    private static Entry entry(JsonNode row) {
        return Entry.of(
                new Version(
                        new IdpName(row.path("name").asText()), row.path("version").longValue()),
                row.path("issuer").asText(),
                DocumentFields.texts(row, "audiences"),
                row.path("listed").booleanValue());
    }

    @Override
    public Optional<IdentityProvider> provider(IdpName name) {
        List<JsonNode> found = documents.read(PROVIDER, Map.of("name", name.value()));
        return Documents.each(found, WHAT, IdentityProviderRow::map).stream().findFirst();
    }

    @Override
    public String fingerprint() {
        return documents.read(FINGERPRINT, Map.of()).getFirst().asText();
    }
}
