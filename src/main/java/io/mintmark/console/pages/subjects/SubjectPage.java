package io.mintmark.console.pages.subjects;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.activity.RecentUse;
import io.mintmark.console.pages.approvals.AskedRequest;
import io.mintmark.console.pages.approvals.GrantRequests;
import io.mintmark.console.pages.frame.Folded;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Suggestions;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.grants.GrantLine;
import io.mintmark.console.pages.mints.MintSearch;
import io.mintmark.console.pages.mints.MintSearch.Found;
import io.mintmark.console.pages.mints.Wanted;
import io.mintmark.console.pages.statements.Outstanding;
import io.mintmark.console.pages.statements.Statements;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a subject may mint now, and what it got.
 *
 * @param subject none if none was entered yet
 * @param grants those in force that no block covers
 * @param approvals the requests that they were made for
 * @param asked its requests for access, one more than are shown if there are more
 * @param blocks those that the viewer may see
 * @param lately subjects of recent requests, if none was entered
 * @param suggestions subjects that may have been meant, if this one is unknown
 * @param everywhere whether it is blocked in all tenants
 * @param use its mints over time; none if no subject was entered
 * @param activity none if no subject was entered
 */
public record SubjectPage(
        Optional<String> subject,
        List<String> lately,
        List<GrantLine> grants,
        GrantRequests approvals,
        List<AskedRequest> asked,
        List<SubjectBlock> blocks,
        boolean everywhere,
        Optional<SubjectActivity> activity,
        Optional<RecentUse> use,
        Found mints,
        List<String> suggestions,
        List<Statements.Statement> statements) {

    private static final int MOST = 100;
    private static final int MINTS = 20;
    private static final int UNFOLDED = 8;
    private static final int BLOCKS_SHOWN = 3;
    private static final int LATEST = 50;

    static final int LATELY_SHOWN = 8;
    static final int ASKED = 5;

    /** The page at {@code /subjects}. */
    public static View view(Connection connection, ServerRequest request, Instant now)
            throws SQLException {
        Parameters parameters = new Parameters(request);
        return View.of(
                "Subjects",
                "subjects/subject",
                of(connection, parameters.text("q"), Period.of(parameters), now));
    }

    /** Reads the page of a subject, or the page without a subject. */
    public static SubjectPage of(
            Connection connection, Optional<String> subject, Optional<Period> period, Instant now)
            throws SQLException {
        if (subject.isEmpty()) {
            return new SubjectPage(
                    subject,
                    lately(connection, now),
                    List.of(),
                    GrantRequests.NONE,
                    List.of(),
                    List.of(),
                    false,
                    Optional.empty(),
                    Optional.empty(),
                    Found.NONE,
                    List.of(),
                    List.of());
        }
        String name = subject.get();
        List<GrantLine> grants = GrantLine.ofSubject(connection, name, MOST);
        Found mints = MintSearch.folded(connection, Wanted.ofSubject(name), MINTS, now);
        SubjectActivity activity = SubjectActivity.of(connection, name, now);
        List<SubjectBlock> blocks = SubjectBlock.of(connection, name);
        List<AskedRequest> asked = AskedRequest.of(connection, List.of(name), ASKED + 1);
        boolean found = !grants.isEmpty() || !mints.lines().isEmpty() || !asked.isEmpty();
        return new SubjectPage(
                subject,
                List.of(),
                grants,
                GrantRequests.of(connection, grants.stream().map(GrantLine::grantId).toList()),
                asked,
                blocks,
                SubjectBlock.isEverywhere(connection, name),
                Optional.of(activity),
                Optional.of(
                        RecentUse.of(
                                connection,
                                Activity.Scope.subject(Optional.empty(), name),
                                period,
                                "/mints?subject=" + Links.encoded(name),
                                Links.subject(name),
                                now)),
                mints,
                found ? List.of() : suggestions(connection, name, now),
                statements(name, grants, mints, blocks, activity.outstanding(now)));
    }

    private static List<String> suggestions(Connection connection, String name, Instant now)
            throws SQLException {
        return Suggestions.ofSubject(
                        connection,
                        name,
                        MintSearch.latestSubjects(connection, Suggestions.LATEST, now))
                .subjects();
    }

    private static List<String> lately(Connection connection, Instant now) throws SQLException {
        return MintSearch.latestSubjects(connection, LATEST, now).stream()
                .limit(LATELY_SHOWN)
                .toList();
    }

    /** The statements, one for each tenant in which the subject has or had something. */
    private static List<Statements.Statement> statements(
            String subject,
            List<GrantLine> grants,
            Found mints,
            List<SubjectBlock> blocks,
            Outstanding out) {
        return Stream.concat(
                        grants.stream().map(GrantLine::tenant),
                        mints.lines().stream().flatMap(line -> line.tenant().stream()))
                .distinct()
                .limit(BLOCKS_SHOWN)
                .flatMap(tenant ->
                        SubjectBlock.further(blocks, tenant, Optional.empty(), subject, out)
                                .stream())
                .toList();
    }

    /** Whether the subject is blocked in all tenants by a row that the viewer may not see. */
    boolean isBlockedUnseen() {
        return everywhere && blocks.stream().allMatch(block -> block.tenant().isPresent());
    }

    Folded<GrantLine> foldedGrants() {
        return Folded.of(grants, UNFOLDED);
    }

    boolean isKnown() {
        return !grants.isEmpty()
                || !mints.lines().isEmpty()
                || !asked.isEmpty()
                || !blocks.isEmpty()
                || everywhere;
    }
}
