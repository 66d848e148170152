package io.mintmark.console.pages.tenants;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.NaturalOrder;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.RowJson;
import io.mintmark.console.pages.frame.Suggestions;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.history.Change;
import io.mintmark.console.pages.statements.Statements;
import io.mintmark.console.pages.subjects.SubjectBlock;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A tenant's configuration.
 *
 * @param grants one more than are shown if there are more
 * @param grantCount the number of grants, at most one more than are counted
 * @param blocks in force, as many as are shown or fewer
 * @param accesses who sees the tenant in the console, as far as the viewer may know
 * @param changes the last ones, as differences
 */
public record TenantPage(
        Tenant tenant,
        List<TenantSetting> settings,
        List<Row> identityProviders,
        List<Row> accessProviders,
        List<Row> keys,
        List<Grant> grants,
        long grantCount,
        List<LintWarning> warnings,
        List<SubjectBlock> blocks,
        List<AccessLine> accesses,
        List<Change> changes,
        List<Statements.Statement> statements) {

    static final int GRANTS = 50;
    static final int GRANTS_COUNTED = 1_000;
    static final int ROWS = 200;
    static final int WARNINGS_SHOWN = 50;
    private static final int CHANGES = 5;

    private static final String TENANT =
            """
            SELECT t.name, t.display_name, t.enabled, t.external_id::text AS external_id,
                   t.created_by, t.created_at, t.updated_by, t.updated_at,
                   broker.revision(t.name) AS revision,
                   ARRAY(SELECT a.role_name FROM broker.tenant_admin AS a
                          WHERE a.tenant = t.name ORDER BY a.role_name LIMIT 20) AS admins
              FROM broker.tenant AS t WHERE t.name = ?
            """;

    private static final String IDENTITY_PROVIDERS =
            """
            SELECT p.name, p.issuer AS what,
                   'audience ' || array_to_string(p.audiences, ', ')
                   || CASE WHEN p.accepts = '{subject}' THEN '' ELSE '; accepts ' || array_to_string(p.accepts, ', ') END AS detail,
                   nullif(p.required_claims, '{}')::text AS settings,
                   p.enabled, p.updated_by, p.updated_at
              FROM broker.identity_provider AS p WHERE p.tenant = ? ORDER BY p.name LIMIT ?
            """;

    private static final String ACCESS_PROVIDERS =
            """
            SELECT a.name, a.type AS what,
                   'targets ' || array_to_string(a.allowed_targets, ', ') AS detail, nullif(a.settings, '{}')::text AS settings,
                   a.enabled, a.updated_by, a.updated_at
              FROM broker.access_provider AS a WHERE a.tenant = ? ORDER BY a.name LIMIT ?
            """;

    private static final String KEYS =
            """
            SELECT k.name, k.provider AS what,
                   coalesce(k.description, '') AS detail, nullif(k.settings, '{}')::text AS settings,
                   k.enabled, k.updated_by, k.updated_at
              FROM broker.key AS k WHERE k.tenant = ? ORDER BY k.name LIMIT ?
            """;

    private static final String GRANTS_OF =
            """
            SELECT g.id, g.idp, g.match, g.subject, g.key, nullif(g.claims, '{}')::text AS claims,
                   g.enabled, g.valid_from, g.valid_until, g.reason, g.created_by, g.created_at
              FROM broker.subject_grant AS g
             WHERE g.tenant = ? AND g.id > ? ORDER BY g.id LIMIT ?
            """;

    private static final String GRANT_COUNT =
            """
            SELECT count(*) AS grants
              FROM (SELECT FROM broker.subject_grant AS g WHERE g.tenant = ? LIMIT ?) AS n
            """;

    /** Some of each kind, since 100,000 grants may have one each. */
    private static final String WARNINGS =
            """
            SELECT w.table_name, w.name, w.rule, w.advice
              FROM ((SELECT o.table_name, o.name, o.rule, o.advice
                       FROM broker.lint AS o
                      WHERE o.tenant = ? AND o.table_name <> 'subject_grant' LIMIT ?)
                    UNION ALL
                    (SELECT g.table_name, g.name, g.rule, g.advice
                       FROM broker.lint AS g
                      WHERE g.tenant = ? AND g.table_name = 'subject_grant' LIMIT ?)) AS w
             ORDER BY w.table_name, w.name
            """;

    record Tenant(
            String name,
            Optional<String> displayName,
            boolean enabled,
            String externalId,
            String createdBy,
            Instant createdAt,
            String updatedBy,
            Instant updatedAt,
            long revision,
            List<String> admins) {}

    /**
     * A row with a name.
     *
     * @param what it is above all: an issuer, a type, a provider
     * @param settings JSON in several lines
     */
    record Row(
            String name,
            String what,
            String detail,
            Optional<String> settings,
            boolean enabled,
            String updatedBy,
            Instant updatedAt) {}

    /** A grant, in force or not. */
    record Grant(
            long id,
            String idp,
            String match,
            String subject,
            String key,
            Optional<String> claims,
            boolean enabled,
            Optional<Instant> from,
            Optional<Instant> until,
            Optional<String> reason,
            String by,
            Instant at) {

        /** Whether it isn't disabled, ended or still to begin. */
        boolean isInForce(Instant now) {
            return enabled
                    && from.filter(begin -> begin.isAfter(now)).isEmpty()
                    && until.filter(end -> !end.isAfter(now)).isEmpty();
        }
    }

    /** A warning about valid configuration that is probably a mistake. */
    record LintWarning(String table, String name, String rule, String advice) {}

    /** The page at {@code /tenants/{tenant}}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String name = request.path().pathParameters().get("tenant");
        long after = new Parameters(request).number("after").orElse(0L);
        Optional<TenantPage> page = of(connection, name, after);
        return page.isPresent()
                ? View.of("Tenant " + name, "tenants/tenant", page.get())
                : View.absent("tenant", Suggestions.ofTenant(connection, name));
    }

    /**
     * That of a name, if the viewer may see it.
     *
     * @param after shows grants of higher numbers
     */
    private static Optional<TenantPage> of(Connection connection, String name, long after)
            throws SQLException {
        Optional<Tenant> tenant = Query.of(TENANT, name).first(connection, TenantPage::tenant);
        return tenant.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new TenantPage(
                                tenant.get(),
                                TenantSetting.of(connection, name),
                                rows(connection, IDENTITY_PROVIDERS, name),
                                rows(connection, ACCESS_PROVIDERS, name),
                                rows(connection, KEYS, name),
                                Query.of(GRANTS_OF, name, after, GRANTS + 1)
                                        .list(connection, TenantPage::grant),
                                Query.of(GRANT_COUNT, name, GRANTS_COUNTED + 1)
                                        .first(connection, row -> row.getLong("grants"))
                                        .orElseThrow(),
                                Query.of(WARNINGS, name, WARNINGS_SHOWN, name, WARNINGS_SHOWN)
                                        .list(connection, TenantPage::warning),
                                SubjectBlock.inTenant(connection, name, ROWS),
                                AccessLine.of(connection, name, ROWS),
                                Change.latest(
                                        connection, Optional.of(name), Long.MAX_VALUE, CHANGES),
                                List.of(Statements.letSee(name), Statements.disableTenant(name))));
    }

    private static List<Row> rows(Connection connection, String sql, String tenant)
            throws SQLException {
        return Query.of(sql, tenant, ROWS)
                .list(
                        connection,
                        row ->
                                new Row(
                                        row.getString("name"),
                                        row.getString("what"),
                                        row.getString("detail"),
                                        Query.text(row, "settings")
                                                .map(json -> RowJson.indented(RowJson.read(json))),
                                        row.getBoolean("enabled"),
                                        row.getString("updated_by"),
                                        Query.time(row, "updated_at")))
                .stream()
                .sorted(Comparator.comparing(Row::name, NaturalOrder.NAMES))
                .toList();
    }

    private static Tenant tenant(ResultSet row) throws SQLException {
        List<String> admins = new ArrayList<>();
        for (Object role : (Object[]) row.getArray("admins").getArray()) {
            admins.add(role.toString());
        }
        return new Tenant(
                row.getString("name"),
                Query.text(row, "display_name"),
                row.getBoolean("enabled"),
                row.getString("external_id"),
                row.getString("created_by"),
                Query.time(row, "created_at"),
                row.getString("updated_by"),
                Query.time(row, "updated_at"),
                row.getLong("revision"),
                admins);
    }

    private static Grant grant(ResultSet row) throws SQLException {
        return new Grant(
                row.getLong("id"),
                row.getString("idp"),
                row.getString("match"),
                row.getString("subject"),
                row.getString("key"),
                Query.text(row, "claims"),
                row.getBoolean("enabled"),
                Query.timeIfAny(row, "valid_from"),
                Query.timeIfAny(row, "valid_until"),
                Query.text(row, "reason"),
                row.getString("created_by"),
                Query.time(row, "created_at"));
    }

    private static LintWarning warning(ResultSet row) throws SQLException {
        return new LintWarning(
                row.getString("table_name"),
                row.getString("name"),
                row.getString("rule"),
                row.getString("advice"));
    }

    /** The number of grants, as far as they were counted. */
    String allGrants() {
        return grantCount > GRANTS_COUNTED
                ? "over " + Frame.number(GRANTS_COUNTED)
                : Frame.number(grantCount);
    }

    boolean hasMoreGrants() {
        return grants.size() > GRANTS;
    }

    List<Grant> shownGrants() {
        return hasMoreGrants() ? grants.subList(0, GRANTS) : grants;
    }
}
