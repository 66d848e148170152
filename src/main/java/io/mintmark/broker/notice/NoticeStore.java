package io.mintmark.broker.notice;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.catalogue.DocumentFields;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * The notices that are still to be sent, which all replicas share. Each method is one statement and
 * throws {@link io.mintmark.base.sql.QueryFailed}.
 */
public final class NoticeStore {
    private static final String TAKE =
            """
            SELECT cast(to_jsonb(n) AS text) AS document
              FROM internal.take_notices(?, cast(? AS int), cast(? AS int), cast(? AS text[])) AS n
            """;
    private static final String CONFIRM =
            "SELECT internal.confirm_notice(cast(? AS uuid), ?) AS done";
    private static final String POSTPONE =
            "SELECT internal.postpone_notice(cast(? AS uuid), ?, cast(? AS int), ?) AS done";
    private static final String RELEASE =
            "SELECT internal.release_notice(cast(? AS uuid), ?) AS done";

    private final Queries queries;
    private final String replica;

    /**
     * @param replica the name of this one
     */
    public NoticeStore(Database database, String replica) {
        this.queries = database.reading();
        this.replica = replica;
    }

    /**
     * Claims the next notices of tenants, at most ten of each, in the order in which they are to be
     * sent.
     *
     * @param most tenants
     * @param lease when another replica may claim them, if this one dies
     * @param beside tenants whose notices this replica is sending, and which get no more
     */
    List<AccessNotice> take(int most, Duration lease, Set<TenantName> beside) {
        return queries.query(
                TAKE,
                List.of(
                        replica,
                        most,
                        lease.toSeconds(),
                        beside.stream().map(TenantName::value).toArray(String[]::new)),
                row -> notice(DocumentFields.parse(row.column("document").get(String.class))));
    }

    private static AccessNotice notice(JsonNode row) {
        return new AccessNotice(
                UUID.fromString(row.path("id").asText()),
                new TenantName(row.path("tenant").asText()),
                row.path("type").asText(),
                UUID.fromString(row.path("request").asText()),
                row.path("data"),
                DocumentFields.time(row, "created_at").orElseThrow(),
                row.path("tries").intValue(),
                row.path("notice_url").asText(),
                row.path("notice_secret").path("file").asText());
    }

    /** Removes a notice that was delivered. */
    void confirm(AccessNotice notice) {
        var _ = done(CONFIRM, List.of(notice.id().toString(), replica));
    }

    /** Gives back a notice that was not tried, because an earlier one failed. */
    void release(AccessNotice notice) {
        var _ = done(RELEASE, List.of(notice.id().toString(), replica));
    }

    /**
     * Gives a claim back, to be tried again after a pause.
     *
     * @return false if it was dropped, because it could not be delivered for too long
     */
    boolean postpone(AccessNotice notice, Duration pause, String failure) {
        return done(
                POSTPONE,
                List.of(notice.id().toString(), replica, Math.max(1, pause.toSeconds()), failure));
    }

    private boolean done(String sql, List<?> parameters) {
        return queries.query(sql, parameters, row -> row.column("done").get(Boolean.class))
                .getFirst();
    }
}
