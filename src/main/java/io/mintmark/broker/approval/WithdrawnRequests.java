package io.mintmark.broker.approval;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.AccessRefusal.WithdrawnAccess;
import io.mintmark.broker.catalogue.DocumentFields;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Access that a person was granted and that was withdrawn, for the refusal of a mint. It never
 * waits for other such queries, and is empty if the database fails: the refusal stands without it.
 */
public final class WithdrawnRequests {
    private static final Logger log = LoggerFactory.getLogger(WithdrawnRequests.class);
    private static final String WITHDRAWN =
            AccessRequests.rows(
                    "withdrawn_access("
                            + AccessRequests.TENANT
                            + "?, ?, nullif(?, ''), nullif(?, ''), cast(? AS text[]))");
    private static final int PERMITS = 4;
    private static final int PERMITS_OF_TENANT = 2;

    private final Queries queries;
    private final SharedPermits<TenantName> permits =
            new SharedPermits<>(PERMITS, PERMITS_OF_TENANT);

    public WithdrawnRequests(Database database) {
        this.queries = database.reading();
    }

    /**
     * The access to each of these keys that a person was granted last, with the same actor, if it
     * was withdrawn and could have lasted until now.
     */
    public List<WithdrawnAccess> of(Person who, List<String> keys) {
        Optional<SharedPermits.Permit> free = permits.acquire(who.tenant(), Duration.ZERO);
        if (free.isEmpty()) {
            return List.of();
        }
        try (var _ = free.get()) {
            return queries
                    .query(
                            WITHDRAWN,
                            List.of(
                                    who.tenant().value(),
                                    who.idp().value(),
                                    who.subject(),
                                    AccessRequests.actorIdp(who),
                                    AccessRequests.actor(who),
                                    keys.toArray(String[]::new)),
                            row -> DocumentFields.parse(row.column("document").get(String.class)))
                    .stream()
                    .map(AccessDocuments::withdrawn)
                    .toList();
        } catch (QueryFailed e) {
            log.debug(
                    "Withdrawn access could not be read, so the response to a denied mint does not mention it",
                    e);
            return List.of();
        }
    }
}
