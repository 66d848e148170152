package io.mintmark.console.pages.keys;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.ChangesSince;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.activity.RecentUse;
import io.mintmark.console.pages.approvals.GrantRequests;
import io.mintmark.console.pages.approvals.RuleLine;
import io.mintmark.console.pages.frame.Folded;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.TypedTime;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.frame.Visibility;
import io.mintmark.console.pages.grants.GrantLine;
import io.mintmark.console.pages.history.Change;
import io.mintmark.console.pages.history.KeyChanges;
import io.mintmark.console.pages.mints.MintSearch;
import io.mintmark.console.pages.mints.MintSearch.Found;
import io.mintmark.console.pages.mints.Wanted;
import io.mintmark.console.pages.statements.Statements;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Who may mint a key, now or at a moment in the past.
 *
 * @param key none if there is no such key any more, or not yet
 * @param with text in the subjects of the grants that are shown; none: all
 * @param asked the requested moment, as it was typed
 * @param at that moment; none for now
 * @param tooEarly a requested moment in the future
 * @param absence why the key didn't exist at that moment, if it didn't
 * @param gone why the key doesn't exist now; none if it does, or never did
 * @param otherKeys the existing keys, if this one never existed
 * @param changes of the configuration since that moment
 * @param grants those that were evaluated
 * @param approvals the requests that they were made for
 * @param rules who may ask for it now
 * @param use its mints over time, up to now
 * @param users who asked for it in the same time
 * @param mints the latest, up to that moment
 * @param history the latest changes of it, up to now
 */
public record KeyPage(
        String tenant,
        String name,
        Optional<KeyFacts> key,
        Optional<String> with,
        TypedTime asked,
        Optional<Instant> at,
        Optional<Instant> tooEarly,
        Optional<KeyAbsence> absence,
        Optional<KeyAbsence> gone,
        Optional<String> otherKeys,
        Optional<ChangesSince> changes,
        GrantLine.OfKey grants,
        GrantRequests approvals,
        List<RuleLine> rules,
        Optional<RecentUse> use,
        List<KeyUser> users,
        Found mints,
        List<Change> history,
        List<Statements.Statement> statements) {

    /** The maximum number of grants that are evaluated; in the past, of their changes. */
    static final int MOST = 250;

    static final int MOST_CHANGES = 500;
    private static final int SHOWN = 200;
    private static final int UNFOLDED = 15;
    private static final int LONG = 40;
    private static final int MINTS = 10;
    private static final int IDPS = 10;
    private static final int CHANGES = 5;

    private static final String IDP_NAMES =
            """
            SELECT p.name FROM broker.identity_provider AS p
             WHERE p.tenant = ? ORDER BY p.name LIMIT ?
            """;

    /**
     * The page at {@code /keys/{tenant}/{key}}. Of a key that the log never had, it shows those
     * that there are.
     */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        String tenant = request.path().pathParameters().get("tenant");
        String name = request.path().pathParameters().get("key");
        Parameters parameters = new Parameters(request);
        TypedTime asked = TypedTime.of(parameters, "at", true);
        Optional<KeyPage> page =
                of(
                        connection,
                        tenant,
                        name,
                        parameters.text("q"),
                        asked,
                        Period.of(parameters),
                        now);
        return page.isPresent()
                ? new View(
                        asked.fault().isPresent() ? 400 : 200,
                        "Key " + name,
                        "keys/key",
                        page.get())
                : OtherKeys.of(connection, tenant, name)
                        .map(others -> absent(tenant, name, others))
                        .orElseGet(() -> View.absent("key"));
    }

    private static View absent(String tenant, String key, String others) {
        return View.message(
                404,
                "Not found",
                "Tenant %s has no key %s, and the audit log mentions no such key."
                        .formatted(tenant, key),
                others);
    }

    /** The page of a key, if the viewer may see anything of it. */
    public static Optional<KeyPage> of(
            Connection connection,
            String tenant,
            String name,
            Optional<String> with,
            TypedTime asked,
            Optional<Period> period,
            Instant now)
            throws SQLException {
        return Visibility.sees(connection, tenant)
                ? Optional.of(ofSeen(connection, tenant, name, with, asked, period, now))
                        .filter(KeyPage::isThere)
                : Optional.empty();
    }

    private static KeyPage ofSeen(
            Connection connection,
            String tenant,
            String name,
            Optional<String> with,
            TypedTime asked,
            Optional<Period> period,
            Instant now)
            throws SQLException {
        Optional<Instant> at = asked.at().filter(moment -> moment.isBefore(now));
        Optional<KeyFacts> key = KeyFacts.of(connection, tenant, name);
        GrantLine.OfKey grants =
                at.isPresent()
                        ? GrantLine.ofKeyAt(connection, tenant, name, at.get(), MOST_CHANGES)
                        : GrantLine.ofKey(connection, tenant, name, with.orElse(""), MOST);
        Optional<KeyAbsence> gone =
                key.isPresent() ? Optional.empty() : KeyAbsence.at(connection, tenant, name, now);
        boolean everWas = key.isPresent() || gone.isPresent();
        Optional<RecentUse> use =
                at.isPresent() ? Optional.empty() : use(connection, tenant, name, period, now);
        return new KeyPage(
                tenant,
                name,
                key,
                with.filter(_ -> at.isEmpty()),
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
                GrantRequests.of(
                        connection, grants.lines().stream().map(GrantLine::grantId).toList()),
                RuleLine.of(connection, tenant, Optional.of(name)),
                use,
                use.isPresent()
                        ? KeyUser.since(connection, tenant, name, use.get().activity().since())
                        : List.of(),
                MintSearch.folded(connection, Wanted.ofKey(tenant, name, at), MINTS, now),
                at.isPresent() ? List.of() : KeyChanges.of(connection, tenant, name, CHANGES),
                everWas ? statements(connection, tenant, name, key, at) : List.of());
    }

    private static Optional<RecentUse> use(
            Connection connection, String tenant, String name, Optional<Period> period, Instant now)
            throws SQLException {
        return Optional.of(
                RecentUse.of(
                        connection,
                        Activity.Scope.key(Optional.of(tenant), name),
                        period,
                        "/mints?tenant=%s&key=%s"
                                .formatted(Links.encoded(tenant), Links.encoded(name)),
                        Links.key(tenant, name),
                        now));
    }

    private static List<Statements.Statement> statements(
            Connection connection,
            String tenant,
            String name,
            Optional<KeyFacts> key,
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

    /** Whether the viewer may see anything of the key. */
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

    /** Whether the list of grants is too long to be looked through, or is already a part of it. */
    boolean isFilterUseful() {
        return with.isPresent() || (at.isEmpty() && grants.lines().size() > LONG);
    }

    boolean hasMore() {
        return isCut() || grants.lines().size() > SHOWN;
    }

    List<GrantLine> shown() {
        return grants.lines().stream().limit(SHOWN).toList();
    }

    Folded<GrantLine> folded() {
        return Folded.of(shown(), UNFOLDED);
    }

    boolean isUncertain() {
        return grants.lines().stream().anyMatch(GrantLine::uncertain);
    }
}
