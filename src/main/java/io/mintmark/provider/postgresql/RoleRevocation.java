package io.mintmark.provider.postgresql;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevocation.Disarmed;
import io.mintmark.provider.LeaseRevocation.Gone;
import io.mintmark.provider.LeaseRevocation.Stuck;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Ends one role, in steps that are transactions of their own and can be repeated. */
final class RoleRevocation {
    private final Session session;
    private final DatabaseSessions databases;
    private final String name;
    private final String role;

    /** Opens further sessions of the same broker on the same server. */
    interface DatabaseSessions {
        Session open(String database) throws TargetFailure;

        /** The database in which the broker works. */
        String usual();
    }

    RoleRevocation(Session session, DatabaseSessions databases, RoleName name) {
        this.session = session;
        this.databases = databases;
        this.name = name.toString();
        this.role = Sql.name(this.name);
    }

    /**
     * A session of the login can lock the role's row, or have all wait for a shared catalog. So its
     * sessions are ended whatever is locked, and then what was locked is tried again.
     */
    LeaseRevocation end() throws TargetFailure {
        Optional<TargetFailure> locked = disarm();
        Optional<String> left = endSessions();
        if (locked.isPresent() && left.isEmpty()) {
            locked = disarm();
            left = endSessions();
        }
        if (locked.isPresent()) {
            throw locked.get();
        }
        return left.isEmpty()
                ? drop()
                : new Stuck(
                        Reason.PROVIDER_TIMEOUT,
                        "sessions of role %s did not end: %s".formatted(name, left.get()));
    }

    /** Without a login and memberships; returns the lock that was in the way. */
    private Optional<TargetFailure> disarm() throws TargetFailure {
        Optional<TargetFailure> login =
                unlessLocked(() ->
                        session.execute("ALTER ROLE %s NOLOGIN PASSWORD NULL".formatted(role)));
        Optional<TargetFailure> memberships = unlessLocked(this::revokeMemberships);
        return login.or(() -> memberships);
    }

    private interface Step {
        void take() throws TargetFailure;
    }

    private static Optional<TargetFailure> unlessLocked(Step step) throws TargetFailure {
        try {
            step.take();
            return Optional.empty();
        } catch (TargetFailure e) {
            if (e.is(TargetFailure.LOCK_NOT_AVAILABLE)) {
                return Optional.of(e);
            }
            throw e;
        }
    }

    /** The mint lets the broker become the role. Kept roles, and those of old brokers, don't. */
    private Optional<String> endSessions() throws TargetFailure {
        if (session.column(
                        "SELECT 1 WHERE pg_has_role(current_user, %s, 'SET')"
                                .formatted(Sql.text(name)))
                .isEmpty()) {
            session.execute(
                    "GRANT %s TO CURRENT_USER WITH INHERIT FALSE, SET TRUE".formatted(role));
        }
        return RoleSessions.end(session, role);
    }

    private List<String> memberships() throws TargetFailure {
        return session.column(
                """
                SELECT g.rolname FROM pg_auth_members AS m
                  JOIN pg_roles AS g ON g.oid = m.roleid JOIN pg_roles AS r ON r.oid = m.member
                 WHERE r.rolname = %s
                """
                        .formatted(Sql.text(name)));
    }

    /** A grant of somebody else's may stay; it is looked for before the role is left to itself. */
    private void revokeMemberships() throws TargetFailure {
        for (String group : memberships()) {
            try {
                session.execute("REVOKE %s FROM %s".formatted(Sql.name(group), role));
            } catch (TargetFailure e) {
                if (!e.is(TargetFailure.INSUFFICIENT_PRIVILEGE)) {
                    throw e;
                }
            }
        }
    }

    private static String grantToBroker(String quoted) {
        return "GRANT %s TO CURRENT_USER WITH INHERIT TRUE, SET FALSE".formatted(quoted);
    }

    /**
     * Makes the broker a member of the new owner; otherwise it can't change the owner of functions,
     * schemas or large objects.
     */
    private static String grantHeirToBroker(String quoted) {
        return "GRANT %s TO CURRENT_USER WITH INHERIT TRUE, SET TRUE".formatted(quoted);
    }

    private static String revokeFromBroker(String quoted) {
        return "REVOKE %s FROM CURRENT_USER GRANTED BY CURRENT_USER".formatted(quoted);
    }

    private LeaseRevocation drop() throws TargetFailure {
        try {
            session.execute(dropping());
            return new Gone("role %s was dropped".formatted(name));
        } catch (TargetFailure e) {
            if (!e.is(TargetFailure.DEPENDENT_OBJECTS)) {
                throw e;
            }
            Agreement agreement = agreement();
            return switch (agreement.leftovers()) {
                case KEEP -> kept(e);
                case DROP -> cleared(agreement, List.of("DROP OWNED BY " + role));
                case GIVE -> cleared(agreement, giving(agreement));
            };
        }
    }

    /** Reads the agreement as late as possible, because a client can lock comments. */
    private Agreement agreement() throws TargetFailure {
        return Agreement.of(
                String.join(
                        "",
                        session.column(
                                "SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = %s"
                                        .formatted(Sql.text(name)))));
    }

    private String dropping() {
        return "DROP ROLE " + role;
    }

    private List<String> giving(Agreement agreement) {
        String heir = Sql.name(agreement.role());
        return List.of(
                grantHeirToBroker(heir),
                "REASSIGN OWNED BY %s TO %s".formatted(role, heir),
                revokeFromBroker(heir),
                "DROP OWNED BY " + role);
    }

    /** Clears each database with all statements or none, and drops the role. */
    private LeaseRevocation cleared(Agreement agreement, List<String> statements)
            throws TargetFailure {
        String clearing =
                Stream.of(
                                Stream.of("BEGIN", grantToBroker(role)),
                                statements.stream(),
                                Stream.of("COMMIT"))
                        .flatMap(each -> each)
                        .collect(Collectors.joining("; "));
        try {
            for (String database : databasesOf(agreement)) {
                try (Session there = databases.open(database)) {
                    there.execute(clearing);
                }
            }
            session.execute(dropping());
            return new Gone(
                    agreement.leftovers() == Leftovers.GIVE
                            ? "role %s was dropped; its objects were given to role %s"
                                    .formatted(name, agreement.role())
                            : "role %s was dropped, with its objects".formatted(name));
        } catch (TargetFailure e) {
            return e.mayPass() ? new Stuck(e.reason(), e.detail()) : kept(e);
        }
    }

    /**
     * The agreed databases that the server has. A pooler may know a database under another name,
     * and databases can be dropped.
     */
    private List<String> databasesOf(Agreement agreement) throws TargetFailure {
        return session.column(
                "SELECT datname FROM pg_database WHERE datallowconn AND datname IN (%s)"
                        .formatted(
                                Stream.concat(
                                                Stream.of(databases.usual()),
                                                agreement.databases().stream())
                                        .map(Sql::text)
                                        .collect(Collectors.joining(", "))));
    }

    /**
     * The result for a role that can't be dropped. The role is disarmed only if it is a member of
     * no other role.
     */
    private LeaseRevocation kept(TargetFailure why) throws TargetFailure {
        session.execute(revokeFromBroker(role));
        List<String> memberships = memberships();
        if (!memberships.isEmpty()) {
            return new Stuck(
                    Reason.PROVIDER_REJECTED,
                    "role %s is still a member of %s, because another role granted it: run REVOKE with GRANTED BY that role"
                            .formatted(name, String.join(", ", memberships)));
        }
        return new Disarmed(
                ("role %1$s can't log in any more and has no memberships, but its objects and"
                                + " grants are left: %2$s."
                                + " To remove it: DROP OWNED BY %1$s; in each of those databases,"
                                + " then DROP ROLE %1$s;")
                        .formatted(name, why.detail()));
    }
}
