package io.mintmark.provider.postgresql;

import io.mintmark.base.tenant.MintId;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevocation.Gone;
import io.mintmark.provider.LeaseRevocation.NotYet;
import io.mintmark.provider.LeaseRevocation.Stuck;
import io.mintmark.provider.LeaseRevoker;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.postgresql.RoleRevocation.DatabaseSessions;

import java.util.List;
import java.util.Optional;

/** Ends mints by their roles, which are found by the mint id in their names. */
final class RoleRevoker implements LeaseRevoker {
    /** The number of tries for a role, because another replica may handle the same role. */
    private static final int LOOKS = 4;

    /** The maximum; the next sweep finds more. Unexpired mints are a sample. */
    private static final int MOST_LISTED = 1_000;

    private final TargetSessions sessions;
    private final String broker;

    /**
     * @param broker the broker's issuer
     */
    RoleRevoker(TargetSessions sessions, String broker) {
        this.sessions = sessions;
        this.broker = broker;
    }

    @Override
    public LeaseRevocation revoke(RevocationOrder order) {
        Place place = order.place();
        try {
            PostgresSettings settings = PostgresSettings.of(place.settings());
            try (Session session = open(place, settings, settings.database())) {
                session.requirePrimary();
                return revoke(order, settings, session);
            }
        } catch (UnusableSettingsException e) {
            return new NotYet(Reason.PROVIDER_MISCONFIGURED, e.getMessage());
        } catch (TargetFailure e) {
            return LeaseRevocation.not(e.failed());
        }
    }

    private Session open(Place place, PostgresSettings settings, String database)
            throws TargetFailure {
        return sessions.open(place.tenant(), settings, database, place.deadline());
    }

    private LeaseRevocation revoke(
            RevocationOrder order, PostgresSettings settings, Session session)
            throws TargetFailure {
        for (int look = 1; ; look++) {
            Optional<RoleName> found = find(session, order.mintId());
            if (found.isEmpty()) {
                return new Gone("the server has no role for this mint");
            }
            try {
                return new RoleRevocation(session, databases(order.place(), settings), found.get())
                        .end();
            } catch (TargetFailure e) {
                if (e.reason() == Reason.PROVIDER_TIMEOUT) {
                    return new Stuck(e.reason(), e.detail());
                }
                if (look == LOOKS || !isOfAnother(e)) {
                    throw e;
                }
            }
        }
    }

    /** The role went away between two statements, or another session changed it. */
    private static boolean isOfAnother(TargetFailure e) {
        return e.is(TargetFailure.UNDEFINED_OBJECT)
                || e.is(TargetFailure.INVALID_PARAMETER_VALUE)
                || e.is(TargetFailure.INTERNAL_ERROR);
    }

    private DatabaseSessions databases(Place place, PostgresSettings settings) {
        return new DatabaseSessions() {
            @Override
            public Session open(String database) throws TargetFailure {
                return RoleRevoker.this.open(place, settings, database);
            }

            @Override
            public String usual() {
                return settings.database();
            }
        };
    }

    /**
     * The role of a mint, with any issuer in its mark: the broker's issuer may have changed since.
     */
    private static Optional<RoleName> find(Session session, MintId mintId) throws TargetFailure {
        return session
                .column(
                        """
                        SELECT rolname FROM pg_roles
                         WHERE starts_with(rolname, 'mm_') AND right(rolname, 33) = %s ORDER BY rolname
                        """
                                .formatted(Sql.text(RoleName.ending(mintId))))
                .stream()
                .flatMap(name -> RoleName.of(name).stream())
                .findFirst();
    }

    /** A role that can't be used and only stays because of what it owns isn't listed. */
    @Override
    public List<Left> leftBehind(Place place) throws NotListed {
        try {
            PostgresSettings settings = PostgresSettings.of(place.settings());
            String mark = RoleName.mark(broker, place.tenant(), place.provider());
            try (Session session = open(place, settings, settings.database())) {
                session.requirePrimary();
                return session
                        .column(
                                """
                                SELECT rolname || CASE WHEN is_over THEN ' ' ELSE '' END
                                  FROM pg_roles AS r, coalesce(rolvaliduntil <= clock_timestamp(), false) AS is_over
                                 WHERE starts_with(rolname, 'mm_%s_')
                                   AND (rolcanlogin OR EXISTS (SELECT FROM pg_auth_members AS m WHERE m.member = r.oid)
                                        OR EXISTS (SELECT FROM pg_stat_activity AS s WHERE s.usesysid = r.oid))
                                 ORDER BY is_over DESC, random() LIMIT %d
                                """
                                        .formatted(mark, MOST_LISTED))
                        .stream()
                        .flatMap(line ->
                                RoleName.of(line.strip())
                                        .map(role -> new Left(role.mintId(), line.endsWith(" ")))
                                        .stream())
                        .toList();
            }
        } catch (UnusableSettingsException e) {
            throw new NotListed(e.getMessage());
        } catch (TargetFailure e) {
            throw new NotListed(e.detail());
        }
    }
}
