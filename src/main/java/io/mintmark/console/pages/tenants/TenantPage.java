package io.mintmark.console.pages.tenants;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.Count;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.activity.RecentUse;
import io.mintmark.console.pages.approvals.GrantRequests;
import io.mintmark.console.pages.approvals.RuleLine;
import io.mintmark.console.pages.frame.Folded;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Suggestions;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.history.Change;
import io.mintmark.console.pages.lint.LintWarning;
import io.mintmark.console.pages.statements.Statements;
import io.mintmark.console.pages.subjects.SubjectBlock;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A tenant's configuration.
 *
 * @param with text in the names and subjects of the rows that are shown; none: all rows
 * @param grants one more than are shown if there are more
 * @param approvals the requests that grants were made for
 * @param rules who may ask for its keys
 * @param grantCount the number of grants, at most one more than are counted
 * @param use its mints over time
 * @param lintsKeys whether the warnings include those of keys
 * @param blocks in force, as many as are shown or fewer
 * @param accesses who sees the tenant in the console, as far as the viewer may know
 * @param changes the last ones, as differences
 */
public record TenantPage(
        Tenant tenant,
        Optional<String> with,
        List<TenantSetting> settings,
        List<TenantRow> identityProviders,
        List<TenantRow> accessProviders,
        List<TenantRow> keys,
        List<TenantGrant> grants,
        GrantRequests approvals,
        List<RuleLine> rules,
        long grantCount,
        RecentUse use,
        List<LintWarning> warnings,
        boolean lintsKeys,
        List<SubjectBlock> blocks,
        List<AccessLine> accesses,
        List<Change> changes,
        List<Statements.Statement> statements) {

    static final int GRANTS = 10;
    static final int GRANTS_COUNTED = 1_000;
    static final int ROWS = 200;
    static final int KEYS_UNFOLDED = 4;
    static final int UNFOLDED = 3;
    private static final int LONG = 40;
    private static final int WARNINGS_UNFOLDED = 2;
    private static final int WARNINGS_SHOWN = 50;

    /** The maximum number of keys whose lint warnings are computed, which takes 2 ms each. */
    static final int KEYS_LINTED = 100;

    private static final int CHANGES = 3;

    private static final String TENANT =
            """
            SELECT t.name, t.display_name, t.enabled, t.external_id::text AS external_id,
                   t.created_by, t.created_at, t.updated_by, t.updated_at,
                   broker.revision(t.name) AS revision,
                   ARRAY(SELECT a.role_name FROM broker.tenant_admin AS a
                          WHERE a.tenant = t.name ORDER BY a.role_name LIMIT 20) AS admins
              FROM broker.tenant AS t WHERE t.name = ?
            """;

    private static final String GRANT_COUNT =
            """
            SELECT count(*) AS grants
              FROM (SELECT FROM broker.subject_grant AS g WHERE g.tenant = ? LIMIT ?) AS n
            """;

    private static final String KEY_COUNT =
            """
            SELECT count(*) AS keys
              FROM (SELECT FROM broker.key AS k WHERE k.tenant = ? LIMIT ?) AS n
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

    /** The page at {@code /tenants/{tenant}}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String name = request.path().pathParameters().get("tenant");
        Parameters parameters = new Parameters(request);
        Optional<TenantPage> page =
                of(
                        connection,
                        name,
                        parameters.text("q"),
                        parameters.number("after").orElse(0L),
                        Period.of(parameters).orElse(Period.WEEK),
                        now);
        return page.isPresent()
                ? View.of("Tenant " + name, "tenants/tenant", page.get())
                : View.absent("tenant", Suggestions.ofTenant(connection, name));
    }

    /**
     * That of a name, if the viewer may see it.
     *
     * @param with text in the names and subjects that are shown
     * @param after shows grants of higher numbers
     */
    private static Optional<TenantPage> of(
            Connection connection,
            String name,
            Optional<String> with,
            long after,
            Period period,
            Instant now)
            throws SQLException {
        String part = with.orElse("");
        Optional<Tenant> tenant = Query.of(TENANT, name).first(connection, TenantPage::tenant);
        boolean lintsKeys = lintsKeys(connection, name);
        List<TenantGrant> grants = TenantGrant.of(connection, name, after, part, GRANTS + 1);
        return tenant.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new TenantPage(
                                tenant.get(),
                                with,
                                TenantSetting.of(connection, name),
                                TenantRow.identityProviders(connection, name, part),
                                TenantRow.accessProviders(connection, name, part),
                                TenantRow.keys(connection, name, part),
                                grants,
                                GrantRequests.of(
                                        connection, grants.stream().map(TenantGrant::id).toList()),
                                RuleLine.of(connection, name, Optional.empty()),
                                Query.of(GRANT_COUNT, name, GRANTS_COUNTED + 1)
                                        .first(connection, row -> row.getLong("grants"))
                                        .orElseThrow(),
                                RecentUse.of(
                                        connection,
                                        Activity.Scope.all(Optional.of(name)),
                                        Optional.of(period),
                                        "/mints?tenant=" + Links.encoded(name),
                                        Links.tenant(name),
                                        now),
                                LintWarning.of(connection, name, lintsKeys, WARNINGS_SHOWN),
                                lintsKeys,
                                SubjectBlock.inTenant(connection, name, part, ROWS),
                                AccessLine.of(connection, name, ROWS),
                                Change.latest(
                                        connection, Optional.of(name), Long.MAX_VALUE, CHANGES),
                                List.of(Statements.letSee(name), Statements.disableTenant(name))));
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

    private static boolean lintsKeys(Connection connection, String tenant) throws SQLException {
        return Query.of(KEY_COUNT, tenant, KEYS_LINTED + 1)
                .first(connection, row -> row.getLong("keys") <= KEYS_LINTED)
                .orElseThrow();
    }

    /** The number of grants, as far as they were counted. */
    String allGrants() {
        return grantCount > GRANTS_COUNTED
                ? "over " + Frame.number(GRANTS_COUNTED)
                : Frame.number(grantCount);
    }

    /** Whether a list is too long to be looked through, or is already a part of one. */
    boolean isFilterUseful() {
        return with.isPresent()
                || grantCount > LONG
                || Stream.of(keys, identityProviders, accessProviders, blocks)
                        .anyMatch(rows -> rows.size() > LONG);
    }

    /** The address of the grants after those shown. */
    String nextGrants() {
        return "%s?%safter=%d#grants"
                .formatted(
                        Links.tenant(tenant.name()),
                        with.map(text -> "q=" + Links.encoded(text) + "&").orElse(""),
                        shownGrants().getLast().id());
    }

    /** The number of lint warnings, or a bound of it. */
    String allWarnings() {
        return Count.of(warnings.size(), warnings.size() < WARNINGS_SHOWN).toString();
    }

    Folded<LintWarning> foldedWarnings() {
        return Folded.of(warnings, WARNINGS_UNFOLDED);
    }

    Folded<AccessLine> foldedAccesses() {
        return Folded.of(accesses, UNFOLDED);
    }

    /** A list with its first rows unfolded; more of them if the viewer looked for them. */
    <T> Folded<T> folded(List<T> rows, int most) {
        return Folded.of(rows, with.isPresent() ? KEYS_UNFOLDED : most);
    }

    boolean hasMoreGrants() {
        return grants.size() > GRANTS;
    }

    List<TenantGrant> shownGrants() {
        return hasMoreGrants() ? grants.subList(0, GRANTS) : grants;
    }
}
