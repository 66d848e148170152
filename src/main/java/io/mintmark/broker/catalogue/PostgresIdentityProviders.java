package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Database;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.grant.IdentityProviderStore;
import io.mintmark.broker.grant.IssuerIndex.Entry;
import io.mintmark.broker.grant.IssuerIndex.Version;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.IdentityProviders.Login;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Reads identity providers: what the index of all takes, and single rows by name. */
public final class PostgresIdentityProviders implements IdentityProviderStore {
    private static final String WHAT = "identity provider";

    private static final String ENABLED =
            """
              FROM broker.identity_provider AS p
              JOIN broker.tenant AS t ON t.name = p.tenant AND t.enabled
             WHERE p.enabled\
            """;

    /**
     * Differs after each change of an identity provider or of its tenant, which may disable it, and
     * from versions of another history.
     */
    private static final String VERSION =
            "hashtextextended(concat_ws(' ', p.xmin, p.updated_at, t.xmin, t.updated_at), 0)";

    private static final String ENTRIES =
            "SELECT cast("
                    + BoundedRows.row(
                            "p.name",
                            BoundedRows.document(
                                    "jsonb_build_object('name', p.name, 'version', "
                                            + VERSION
                                            + ", 'issuer', p.issuer, 'audiences', p.audiences,"
                                            + " 'listed', p.listed, 'tenant', p.tenant,"
                                            + " 'login_client_id', p.login_client_id)",
                                    "p.issuer",
                                    "p.audiences",
                                    "p.login_client_id"))
                    + " AS text) AS document"
                    + ENABLED
                    + " ORDER BY p.name";

    private static final String PROVIDER =
            "SELECT cast("
                    + BoundedRows.row("p.name", IdentityProviderRow.DOCUMENT)
                    + " AS text) AS document"
                    + ENABLED
                    + " AND p.name = ?";

    private static final String FINGERPRINT =
            """
            SELECT cast(to_jsonb(cast(coalesce(sum(hashtextextended(p.name, %s)), 0) AS text)) AS text) AS document
              FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant
            """
                    .formatted(VERSION);

    /**
     * Whether a change is on record that wasn't committed at the horizon, and the horizon of now:
     * the oldest transaction that is still open.
     */
    private static final String CHANGED =
            """
            SELECT cast(jsonb_build_object(
                       'horizon', cast(cast(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint),
                       'changed', EXISTS (SELECT FROM log.config_change AS c
                                           WHERE c.transaction_id >= :horizon
                                             AND c.table_name IN ('identity_provider', 'tenant'))) AS text) AS document
            """;

    /**
     * The fingerprint of all rows is read so often whether or not a change is on record, because a
     * restored database may count transactions anew.
     */
    private static final Duration AT_LEAST = Duration.ofSeconds(10);

    private final Documents documents;
    private final ConfigurationRows configuration;
    private final LongSupplier nanos;
    private volatile @Nullable Seen seen;

    /** A fingerprint, up to which transaction it covers changes, and when it was read. */
    private record Seen(String fingerprint, long horizon, long readAt) {}

    /**
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public PostgresIdentityProviders(Database database, LongSupplier nanos) {
        this.documents = new Documents(database.reading());
        this.configuration = new ConfigurationRows(database.reading());
        this.nanos = nanos;
    }

    @Override
    public List<Entry> entries() {
        return configuration.each(ENTRIES, WHAT, PostgresIdentityProviders::entry);
    }

    private static Entry entry(JsonNode row) {
        IdpName name = new IdpName(row.path("name").asText());
        String issuer = row.path("issuer").asText();
        return Entry.of(
                        new Version(name, row.path("version").longValue()),
                        issuer,
                        DocumentFields.texts(row, "audiences"),
                        row.path("listed").booleanValue())
                .with(
                        DocumentFields.text(row, "login_client_id")
                                .map(client ->
                                        new Login(
                                                name,
                                                new TenantName(row.path("tenant").asText()),
                                                issuer,
                                                client)));
    }

    @Override
    public Optional<IdentityProvider> provider(IdpName name) {
        List<JsonNode> found = configuration.read(PROVIDER, name.value());
        return Documents.each(found, WHAT, IdentityProviderRow::map).stream().findFirst();
    }

    @Override
    public String fingerprint() {
        Seen last = seen;
        long now = nanos.getAsLong();
        JsonNode changed =
                documents
                        .read(CHANGED, Map.of("horizon", last == null ? 0 : last.horizon()))
                        .getFirst();
        long horizon = changed.path("horizon").longValue();
        if (last == null
                || changed.path("changed").booleanValue()
                || horizon < last.horizon()
                || now - last.readAt() >= AT_LEAST.toNanos()) {
            last = new Seen(read(), horizon, now);
        } else {
            last = new Seen(last.fingerprint(), horizon, last.readAt());
        }
        seen = last;
        return last.fingerprint();
    }

    private String read() {
        return configuration.read(FINGERPRINT).getFirst().asText();
    }
}
