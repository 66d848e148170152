package io.mintmark.console.pages;

import io.mintmark.console.pages.MintSearch.Found;
import io.mintmark.console.pages.MintSearch.Wanted;
import io.mintmark.postgres.connection.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Who may mint a key, now or at a moment in the past.
 *
 * @param key none if there is no such key any more, or not yet
 * @param asked the requested moment, as it was typed
 * @param at that moment; none for now
 * @param tooEarly a requested moment in the future
 * @param absence why the key didn't exist at that moment, if it didn't
 * @param gone why the key doesn't exist now; none if it does, or never did
 * @param otherKeys the existing keys, if this one never existed
 * @param changes of the configuration since that moment
 * @param grants those that were evaluated
 * @param mints the latest, up to that moment
 */
record KeyPage(
        String tenant,
        String name,
        Optional<Key> key,
        TypedTime asked,
        Optional<Instant> at,
        Optional<Instant> tooEarly,
        Optional<KeyAbsence> absence,
        Optional<KeyAbsence> gone,
        Optional<String> otherKeys,
        Optional<ChangesSince> changes,
        GrantLine.OfKey grants,
        Found mints,
        List<Statements.Statement> statements) {

    /** The maximum number of grants that are evaluated; in the past, of their changes. */
    static final int MOST = 250;

    static final int MOST_CHANGES = 500;
    private static final int SHOWN = 200;
    private static final int MINTS = 10;
    private static final int IDPS = 10;

    private static final String KEY =
            """
            SELECT k.description,
                   least(k.max_duration, y.max_duration, t.max_duration) AS max_duration,
                   k.provider, a.type,
                   internal.named_targets(y.target_setting || y.further_targets, y.key_settings,
                                          k.settings) AS target,
                   k.enabled AND a.enabled AND t.enabled AS enabled
              FROM broker.key AS k
              JOIN broker.tenant AS t ON t.name = k.tenant
              JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
              JOIN broker.provider_type AS y ON y.type = a.type
             WHERE k.tenant = ? AND k.name = ?
            """;

    private static final String IDP_NAMES =
            """
            SELECT p.name FROM broker.identity_provider AS p
             WHERE p.tenant = ? ORDER BY p.name LIMIT ?
            """;

    /**
     * What it is a key to.
     *
     * @param enabled whether everything that it depends on is
     */
    record Key(
            Optional<String> description,
            long maxDuration,
            String provider,
            String type,
            Optional<String> target,
            boolean enabled) {}

    /** The page of a key, if the viewer may see anything of it. */
    static Optional<KeyPage> of(
            Connection connection, String tenant, String name, TypedTime asked, Instant now)
            throws SQLException {
        return OverviewPage.sees(connection, tenant)
                ? Optional.of(ofSeen(connection, tenant, name, asked, now)).filter(KeyPage::isThere)
                : Optional.empty();
    }

    private static KeyPage ofSeen(
            Connection connection, String tenant, String name, TypedTime asked, Instant now)
            throws SQLException {
        Optional<Instant> at = asked.at().filter(moment -> moment.isBefore(now));
        Optional<Key> key = Query.of(KEY, tenant, name).first(connection, KeyPage::key);
        GrantLine.OfKey grants =
                at.isPresent()
                        ? GrantLine.ofKeyAt(connection, tenant, name, at.get(), MOST_CHANGES)
                        : GrantLine.ofKey(connection, tenant, name, MOST);
        Optional<KeyAbsence> gone =
                key.isPresent() ? Optional.empty() : KeyAbsence.at(connection, tenant, name, now);
        boolean everWas = key.isPresent() || gone.isPresent();
        return new KeyPage(
                tenant,
                name,
                key,
                asked,
                at,
                asked.at().filter(moment -> at.isEmpty()),
                at.isPresent()
                        ? KeyAbsence.at(connection, tenant, name, at.get())
                        : Optional.empty(),
                gone,
                everWas ? Optional.empty() : OtherKeys.of(connection, tenant, name),
                at.isPresent()
                        ? Optional.of(ChangesSince.of(connection, tenant, at.get()))
                        : Optional.empty(),
                grants,
                MintSearch.find(connection, Wanted.ofKey(tenant, name, at), MINTS, now),
                everWas ? statements(connection, tenant, name, key, at) : List.of());
    }

    private static List<Statements.Statement> statements(
            Connection connection,
            String tenant,
            String name,
            Optional<Key> key,
            Optional<Instant> at)
            throws SQLException {
        List<Statements.Statement> all = new ArrayList<>();
        all.add(Statements.listGrants(tenant, name, at));
        if (at.isEmpty() && key.isPresent()) {
            List<String> idps =
                    Query.of(IDP_NAMES, tenant, IDPS)
                            .list(connection, row -> row.getString("name"));
            all.add(Statements.giveSomebody(tenant, idps, name));
            all.add(Statements.disableKey(tenant, name, key.get().type()));
        }
        return all;
    }

    private static Key key(ResultSet row) throws SQLException {
        return new Key(
                Query.text(row, "description"),
                row.getLong("max_duration"),
                row.getString("provider"),
                row.getString("type"),
                Query.text(row, "target"),
                row.getBoolean("enabled"));
    }

    /** Whether the viewer may see anything at all of it. */
    boolean isThere() {
        return key.isPresent()
                || !grants.lines().isEmpty()
                || !grants.all()
                || absence.isPresent()
                || gone.isPresent()
                || !mints.lines().isEmpty();
    }

    /** Whether the key exists or ever did, as far as the evaluated history shows. */
    boolean everWas() {
        return key.isPresent() || gone.isPresent();
    }

    /** Whether more grants may be in force than were evaluated. */
    boolean isCut() {
        return !grants.all();
    }

    /** A link to all mints and refusals; the page shows some. */
    String allMints() {
        return "/mints?tenant=%s&key=%s".formatted(Links.encoded(tenant), Links.encoded(name))
                + at.map(_ -> "&to=" + Links.encoded(asked.text())).orElse("");
    }

    boolean hasMore() {
        return isCut() || grants.lines().size() > SHOWN;
    }

    List<GrantLine> shown() {
        return grants.lines().stream().limit(SHOWN).toList();
    }

    boolean isUncertain() {
        return grants.lines().stream().anyMatch(GrantLine::uncertain);
    }

    /**
     * A key that wasn't there at a moment of the past.
     *
     * @param since what had deleted or renamed it; none if it had never been there until then
     * @param until what made it after that; none if nothing did
     */
    record KeyAbsence(Optional<Boundary> since, Optional<Boundary> until) {

        /** A change of the tenant's by which a key came or went. */
        record Boundary(long revision, Instant at, String by) {}

        /** Beyond this number of changes to a tenant's keys, the history isn't evaluated. */
        private static final int MOST_CHANGES = 5_000;

        /** Comes along the index of changes beside grants, which its condition names. */
        private static final String CHANGES =
                """
                WITH change AS (
                     SELECT c.revision, c.changed_at, c.changed_by, coalesce(c.before ->> 'name' = ?, false) AS was,
                            coalesce(c.after ->> 'name' = ?, false) AS became
                       FROM (SELECT n.revision, n.changed_at, n.changed_by, n.before, n.after
                               FROM audit.config_change AS n
                              WHERE n.tenant = ? AND n.table_name = 'key'
                                AND n.table_name <> 'subject_grant'
                              ORDER BY n.revision LIMIT ?) AS c
                )
                SELECT t.changes, t.of_key, t.was_there,
                       w.revision AS went, w.changed_at AS went_at, w.changed_by AS went_by,
                       c.revision AS came, c.changed_at AS came_at, c.changed_by AS came_by
                  FROM (SELECT count(*) AS changes,
                               count(*) FILTER (WHERE h.was OR h.became) AS of_key,
                               (array_agg(h.became ORDER BY h.revision DESC)
                                FILTER (WHERE h.changed_at <= m.at AND (h.was OR h.became)))[1] AS was_there,
                               max(h.revision) FILTER (WHERE h.changed_at <= m.at AND h.was AND NOT h.became)
                                   AS went,
                               min(h.revision) FILTER (WHERE h.changed_at > m.at AND h.became AND NOT h.was)
                                   AS came
                          FROM (SELECT cast(? AS timestamptz) AS at) AS m LEFT JOIN change AS h ON true
                         GROUP BY m.at) AS t
                  LEFT JOIN change AS w ON w.revision = t.went
                  LEFT JOIN change AS c ON c.revision = t.came
                """;

        /** Empty if the key existed, or if the evaluated history doesn't contain it. */
        static Optional<KeyAbsence> at(Connection connection, String tenant, String key, Instant at)
                throws SQLException {
            return Query.of(CHANGES, key, key, tenant, MOST_CHANGES + 1, at)
                    .first(connection, KeyAbsence::absence)
                    .flatMap(found -> found);
        }

        private static Optional<KeyAbsence> absence(ResultSet row) throws SQLException {
            boolean known = row.getLong("changes") <= MOST_CHANGES && row.getLong("of_key") > 0;
            return known && !row.getBoolean("was_there")
                    ? Optional.of(
                            new KeyAbsence(
                                    boundary(row, "went", "went_at", "went_by"),
                                    boundary(row, "came", "came_at", "came_by")))
                    : Optional.empty();
        }

        private static Optional<Boundary> boundary(
                ResultSet row, String revision, String at, String by) throws SQLException {
            Optional<Long> number = Query.number(row, revision);
            return number.isPresent()
                    ? Optional.of(
                            new Boundary(number.get(), Query.time(row, at), row.getString(by)))
                    : Optional.empty();
        }
    }
}
