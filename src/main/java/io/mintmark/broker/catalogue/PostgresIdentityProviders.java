package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Database;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.grant.IdentityProviderStore;
import io.mintmark.broker.grant.IssuerIndex.Entry;
import io.mintmark.broker.grant.IssuerIndex.SignedAs;
import io.mintmark.broker.grant.IssuerIndex.Version;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.IdentityProviders.Login;

import org.jspecify.annotations.Nullable;

import java.math.BigInteger;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Reads identity providers: what the index of all takes, and single rows by name. Once all entries
 * are known, only those are read that the history of changes names.
 *
 * <p>A change past the history, as an owner makes it with the triggers off, is noticed by a
 * fingerprint of all rows. It is read when PostgreSQL has counted rows that were written, at most
 * every ten seconds; and every five minutes whatever is counted, because a superuser can switch the
 * counting off.
 */
public final class PostgresIdentityProviders implements IdentityProviderStore {
    private static final String WHAT = "identity provider";

    private static final String OF_TENANTS =
            " FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant";

    private static final String ENABLED = OF_TENANTS + " WHERE p.enabled AND t.enabled";

    /**
     * Differs after each change of an identity provider or of its tenant, which may disable it, and
     * from versions of another history.
     */
    private static final String VERSION =
            "hashtextextended(p.name, hashtextextended(concat_ws(' ', p.xmin, p.updated_at, t.xmin, t.updated_at), 0))";

    private static final String ENTRIES =
            "SELECT cast("
                    + BoundedRows.row(
                            "p.name",
                            BoundedRows.document(
                                    "jsonb_build_object('name', p.name, 'version', "
                                            + VERSION
                                            + ", 'enabled', p.enabled AND t.enabled"
                                            + ", 'issuer', p.issuer, 'audiences', p.audiences,"
                                            + " 'listed', p.listed, 'tenant', p.tenant,"
                                            + " 'login_client_id', p.login_client_id,"
                                            + " 'signed_as', t.issuer)",
                                    "p.issuer",
                                    "p.audiences",
                                    "p.login_client_id"))
                    + " AS text) AS document";

    private static final String ALL = ENTRIES + ENABLED + " ORDER BY p.name";

    private static final String CHANGED =
            ENTRIES
                    + OF_TENANTS
                    + " WHERE p.name = ANY (cast(? AS text[])) OR p.tenant = ANY (cast(? AS text[]))";

    private static final String PROVIDER =
            "SELECT cast("
                    + BoundedRows.row("p.name", IdentityProviderRow.DOCUMENT)
                    + " AS text) AS document"
                    + ENABLED
                    + " AND p.name = ?";

    /** The sum of all versions. */
    private static final String FINGERPRINT =
            "SELECT cast(to_jsonb(cast(coalesce(sum("
                    + VERSION
                    + "), 0) AS text)) AS text) AS document"
                    + ENABLED;

    /** The least time between two fingerprints. */
    private static final Duration AT_MOST_EACH = Duration.ofSeconds(10);

    /** The most time between two fingerprints. */
    private static final Duration AT_LEAST_EACH = Duration.ofMinutes(5);

    private final Documents documents;
    private final ConfigurationRows configuration;
    private final LongSupplier nanos;
    private volatile @Nullable Seen seen;

    /** A row of the index, or one that isn't in it any more. */
    private record Found(boolean enabled, Entry entry) {
        String name() {
            return entry.version().name().value();
        }
    }

    /**
     * The state of the identity providers' rows at the last poll.
     *
     * @param changes up to which these are the entries
     * @param unread the sum of versions of rows that aren't among the entries, because they can't
     *     be used
     * @param counters as they were before the fingerprint was read
     * @param comparedAt when the fingerprint was read
     */
    private record Seen(
            Entries entries,
            RecordedChanges changes,
            long unread,
            String counters,
            long comparedAt) {
        boolean isToBeCompared(long now) {
            Duration atMost = changes.counters().equals(counters) ? AT_LEAST_EACH : AT_MOST_EACH;
            return now - comparedAt >= atMost.toNanos();
        }
    }

    /**
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public PostgresIdentityProviders(Database database, LongSupplier nanos) {
        this.documents = new Documents(database.reading());
        this.configuration = new ConfigurationRows(database.reading());
        this.nanos = nanos;
    }

    @Override
    public Entries entries() {
        Seen last = seen;
        long now = nanos.getAsLong();
        RecordedChanges changes =
                RecordedChanges.since(
                        last == null ? RecordedChanges.NO_SNAPSHOT : last.changes().snapshot(),
                        documents);
        Seen next =
                last == null
                                || changes.areTooMany()
                                || !changes.database().equals(last.changes().database())
                        ? all(changes, now)
                        : compared(changed(last, changes), now);
        seen = next;
        return next.entries();
    }

    private Seen all(RecordedChanges changes, long now) {
        long sum = fingerprint();
        Entries entries =
                entries(
                        configuration.each(ALL, WHAT, PostgresIdentityProviders::found).stream()
                                .map(Found::entry)
                                .toList());
        return new Seen(entries, changes, sum - sum(entries), changes.counters(), now);
    }

    /** Reads the rows that the recorded changes name, and keeps the others. */
    private Seen changed(Seen last, RecordedChanges changes) {
        Entries entries =
                changes.rows().isEmpty() ? last.entries() : changed(last.entries(), changes);
        return new Seen(entries, changes, last.unread(), last.counters(), last.comparedAt());
    }

    private Entries changed(Entries known, RecordedChanges changes) {
        Map<String, Entry> byName = new TreeMap<>();
        known.byName().forEach(entry -> byName.put(entry.version().name().value(), entry));
        List<String> providers = changes.providers();
        List<Found> found =
                configuration.each(
                        CHANGED,
                        WHAT,
                        PostgresIdentityProviders::found,
                        providers,
                        changes.tenants());
        providers.forEach(byName::remove);
        found.forEach(row -> byName.remove(row.name()));
        found.stream().filter(Found::enabled).forEach(row -> byName.put(row.name(), row.entry()));
        return entries(List.copyOf(byName.values()));
    }

    /** Reads all again if the fingerprint is due and isn't that of these entries. */
    private Seen compared(Seen current, long now) {
        if (!current.isToBeCompared(now)) {
            return current;
        }
        RecordedChanges changes = current.changes();
        return fingerprint() == sum(current.entries()) + current.unread()
                ? new Seen(current.entries(), changes, current.unread(), changes.counters(), now)
                : all(changes, now);
    }

    private static Entries entries(List<Entry> byName) {
        return new Entries(Long.toString(sum(byName)), byName);
    }

    private static long sum(Entries entries) {
        return sum(entries.byName());
    }

    private static long sum(List<Entry> entries) {
        return entries.stream().mapToLong(entry -> entry.version().number()).sum();
    }

    /** Modulo 2<sup>64</sup>, as a sum of longs is. */
    private long fingerprint() {
        return new BigInteger(configuration.read(FINGERPRINT).getFirst().asText()).longValue();
    }

    private static Found found(JsonNode row) {
        IdpName name = new IdpName(row.path("name").asText());
        String issuer = row.path("issuer").asText();
        TenantName tenant = new TenantName(row.path("tenant").asText());
        Entry entry =
                Entry.of(
                                new Version(name, row.path("version").longValue()),
                                issuer,
                                DocumentFields.texts(row, "audiences"),
                                row.path("listed").booleanValue())
                        .with(
                                DocumentFields.text(row, "login_client_id")
                                        .map(client -> new Login(name, tenant, issuer, client)))
                        .ofTenant(
                                DocumentFields.text(row, "signed_as")
                                        .map(signed -> new SignedAs(tenant, signed)));
        return new Found(row.path("enabled").booleanValue(), entry);
    }

    @Override
    public Optional<IdentityProvider> provider(IdpName name) {
        List<JsonNode> found = configuration.read(PROVIDER, name.value());
        return Documents.each(found, WHAT, IdentityProviderRow::map).stream().findFirst();
    }
}
