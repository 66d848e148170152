package io.mintmark.broker.approval;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.approval.AccessRequest.Asked;
import io.mintmark.broker.approval.AccessRequest.RowRevisions;
import io.mintmark.broker.catalogue.DocumentFields;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Requests for access in PostgreSQL, whose functions apply the rules: each call is one statement
 * and one transaction. Every method throws {@link Unavailable} if the database doesn't answer.
 */
public final class AccessRequests {
    private static final Duration SOON = Duration.ofSeconds(5);

    /**
     * The time that a call waits for others. Changes of a tenant wait for each other in the
     * database, so that without permits the requests of one tenant could hold every connection.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /**
     * The time that a statement waits for a lock, because it keeps a permit and a connection from
     * other tenants. A call releases both before it tries again.
     */
    private static final String LOCK_TIMEOUT = "100ms";

    private static final Duration PAUSE = Duration.ofMillis(50);

    /** The tenant as an SQL expression, which sets the lock time-out before the function begins. */
    static final String TENANT = "coalesce(?, patience.lock_timeout), ";

    private static final String ASK =
            rows(
                    "request_access("
                            + TENANT
                            + "?, ?, cast(? AS jsonb), nullif(?, ''), nullif(?, ''), cast(? AS text[]), ?, cast(? AS int), cast(? AS boolean))");
    private static final String LIST =
            rows(
                    "access_requests("
                            + TENANT
                            + "?, ?, cast(? AS jsonb), ?, cast(nullif(?, '') AS uuid), nullif(?, ''), nullif(?, ''))");
    private static final String DECIDE =
            rows(
                    "decide_access("
                            + TENANT
                            + "?, ?, cast(? AS jsonb), cast(? AS boolean), cast(? AS uuid), ?, nullif(?, ''), cast(nullif(?, '') AS jsonb))");
    private static final String WITHDRAW =
            rows("withdraw_access(" + TENANT + "?, ?, cast(? AS uuid))");

    private final Queries queries;
    private final AccessRefusals refusals;
    private final StatementPermits permits = new StatementPermits(System::nanoTime);

    /** The requests that a list contains. */
    public enum Scope {
        /** The requests that the subject made, or that were made as its actor; the newest first. */
        ME("me"),
        /** The requests that wait for the subject's decision; the oldest first. */
        DECISION("decision"),
        /**
         * The requests whose access the subject may withdraw as an approver; the access that ends
         * last comes first.
         */
        WITHDRAWAL("withdrawal");

        private final String word;

        Scope(String word) {
            this.word = word;
        }

        /** The value in SQL and in the HTTP API. */
        public String word() {
            return word;
        }
    }

    /** The decision on a request. */
    public enum Choice {
        APPROVE("approve"),
        REFUSE("refuse"),
        /** Ends access that was granted. */
        WITHDRAW("withdraw");

        private final String word;

        Choice(String word) {
            this.word = word;
        }

        /** The value in SQL and in the HTTP API. */
        public String word() {
            return word;
        }
    }

    public AccessRequests(Database database, InstantSource clock) {
        this.queries = database.reading();
        this.refusals = new AccessRefusals(clock);
    }

    /** A call of a function, each of whose rows is a document; it waits for no lock for long. */
    static String rows(String call) {
        return "SELECT cast(to_jsonb(r) AS text) AS document FROM (SELECT set_config('lock_timeout', '"
                + LOCK_TIMEOUT
                + "', true) OFFSET 0) AS patience (lock_timeout) CROSS JOIN LATERAL internal."
                + call
                + " AS r";
    }

    /**
     * Asks for access to all of these keys, or to none.
     *
     * @param breakGlass whether only access that is granted at once will do
     */
    public Verdict<List<Asked>> ask(
            Person who, List<KeyName> keys, String reason, Duration access, boolean breakGlass) {
        return passed(
                        who,
                        call(
                                who,
                                ASK,
                                who.claims().toString(),
                                actorIdp(who),
                                actor(who),
                                keys.stream().map(KeyName::value).toArray(String[]::new),
                                reason,
                                access.toSeconds(),
                                breakGlass))
                .map(rows -> rows.stream().map(AccessDocuments::asked).toList());
    }

    /**
     * Lists the newest requests that the subject made or may decide, up to the limit of the
     * database function; with an actor, only requests that both made together.
     */
    public List<AccessRequest> list(Person who, Scope scope) {
        return listed(who, scope.word(), "").stream()
                .map(AccessDocuments::request)
                .filter(who::mayHandle)
                .toList();
    }

    /**
     * Finds a request, if the subject made it, may decide it or has decided it. With an actor, both
     * must have made it together.
     */
    public Verdict<AccessRequest> find(Person who, UUID id) {
        return listed(who, "one", id.toString()).stream()
                .findFirst()
                .map(AccessDocuments::request)
                .filter(who::mayHandle)
                .map(Verdict::passed)
                .orElseGet(() -> Verdict.refused(new ApprovalRefusal.UnknownRequest()));
    }

    /**
     * Approves or refuses a request, or withdraws access. The last needed approval grants.
     *
     * @param note why; empty for no note
     * @param shown the revisions that the person was shown
     */
    public Verdict<AccessRequest> decide(
            Person who, UUID id, Choice choice, String note, Optional<RowRevisions> shown) {
        return passed(
                        who,
                        call(
                                who,
                                DECIDE,
                                who.claims().toString(),
                                who.actor().isPresent(),
                                id.toString(),
                                choice.word(),
                                note,
                                shown.map(AccessDocuments::json).orElse("")))
                .then(_ -> find(who, id));
    }

    /**
     * Withdraws a request that {@link #find} shows, and ends the grant that came of it. Whoever
     * didn't make the request does it as an approver, and only once it is granted.
     */
    public Verdict<AccessRequest> withdraw(Person who, UUID id) {
        return find(who, id)
                .then(request ->
                        request.mine()
                                ? passed(who, call(who, WITHDRAW, id.toString()))
                                        .then(_ -> find(who, id))
                                : decide(who, id, Choice.WITHDRAW, "", Optional.empty()));
    }

    private List<JsonNode> listed(Person who, String wanted, String id) {
        return call(who, LIST, who.claims().toString(), wanted, id, actorIdp(who), actor(who));
    }

    static String actorIdp(Person who) {
        return who.actor().map(actor -> actor.idp().value()).orElse("");
    }

    static String actor(Person who) {
        return who.actor().map(Person.Actor::subject).orElse("");
    }

    private Verdict<List<JsonNode>> passed(Person who, List<JsonNode> rows) {
        return refusals.in(rows, who)
                .<Verdict<List<JsonNode>>>map(Verdict::refused)
                .orElseGet(() -> Verdict.passed(rows));
    }

    private List<JsonNode> call(Person who, String sql, Object... further) {
        List<Object> parameters = new ArrayList<>();
        parameters.add(who.tenant().value());
        parameters.add(who.idp().value());
        parameters.add(who.subject());
        parameters.addAll(List.of(further));
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try (var _ = permit(who, until)) {
                return repeatedOnConflict(() ->
                        queries.query(
                                sql,
                                parameters,
                                row ->
                                        DocumentFields.parse(
                                                row.column("document").get(String.class))));
            } catch (QueryFailed e) {
                if (!e.isLocked() || until - System.nanoTime() <= PAUSE.toNanos() || !hasPaused()) {
                    throw unavailable(e);
                }
            }
        }
    }

    private static Unavailable unavailable(QueryFailed failure) {
        return new Unavailable(
                failure.isLocked() ? Unavailable.Part.TENANT : Unavailable.Part.DATABASE,
                failure.isLocked()
                        ? "Another database session holds a lock on requests for access; try again."
                        : "Requests for access can't be read or written now; try again.",
                SOON,
                failure);
    }

    /**
     * Pauses; returns whether nothing interrupted the pause. A broker that stops makes no more
     * tries.
     */
    private static boolean hasPaused() {
        try {
            Thread.sleep(PAUSE);
            return true;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** A transaction that PostgreSQL took back in favour of another succeeds the second time. */
    private static <T> T repeatedOnConflict(Supplier<T> statement) {
        try {
            return statement.get();
        } catch (QueryFailed e) {
            if (!e.isConflict()) {
                throw e;
            }
            return statement.get();
        }
    }

    private SharedPermits.Permit permit(Person who, long until) {
        return permits.acquire(who.tenant(), Duration.ofNanos(until - System.nanoTime()))
                .orElseThrow(() ->
                        new Unavailable(
                                "Too many requests for access are in flight; try again.", SOON));
    }
}
