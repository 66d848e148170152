package io.mintmark.base.schema;

import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.sql.Roles;

import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.exception.FlywayValidateException;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Migrates the schema. All objects belong to the owner's role, whatever member of it runs this, so
 * that any other member can run the next migration.
 */
public final class Migrations {
    private static final Logger log = LoggerFactory.getLogger(Migrations.class);

    /**
     * The session's settings, with a short lock time-out: while a statement waits for a lock, all
     * later ones wait for the statement, mints too.
     */
    private static final String SESSION = "-c client_min_messages=warning -c lock_timeout=500";

    /** The time for which a migration tries to get its locks, while other sessions end. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final String FILES = "db/migration";
    static final String HISTORY_SCHEMA = "runtime";

    private static final String KNOWN_ROLES =
            """
            SELECT rolname, pg_has_role(current_user, oid, 'MEMBER') AS is_ours
              FROM pg_catalog.pg_roles
             WHERE rolname = ANY (?)
            """;

    private final DatabaseLogin login;
    private final Roles roles;
    private final boolean singleRole;
    private final Duration patience;

    private interface Step {
        void run() throws SQLException;
    }

    /**
     * @param singleRole whether the login may stand in for roles that don't exist
     */
    public Migrations(DatabaseLogin login, Roles roles, boolean singleRole) {
        this(login, roles, singleRole, PATIENCE);
    }

    Migrations(DatabaseLogin login, Roles roles, boolean singleRole, Duration patience) {
        this.login = login;
        this.roles = roles;
        this.singleRole = singleRole;
        this.patience = patience;
    }

    /** Creates the migrations, which run with the login that the settings name for the migrator. */
    public static Migrations of(DatabaseSettings settings) {
        return new Migrations(
                Logins.migrator(settings), Logins.roles(settings.roles()), settings.singleRole());
    }

    /**
     * Runs the missing migrations; none on a newer schema.
     *
     * @return how many migrations ran
     * @throws DatabaseUnfit with a sentence that says what to do
     */
    public int run() {
        return runBelow(SchemaVersion.OURS + 1);
    }

    /**
     * Migrates at a start, which takes the schema's word for it that it is ours: to compare each
     * migration that ran with the file that it came from takes a fifth of a start.
     */
    public int runIfOlder() {
        return runBelow(SchemaVersion.OURS);
    }

    private int runBelow(int version) {
        try {
            Map<String, Boolean> known = knownRoles();
            requireOwner(known);
            Optional<SchemaVersion> found = version(known);
            found.filter(SchemaVersion::isNewerThanOurs).ifPresent(Migrations::logNewer);
            int executed =
                    found.filter(it -> it.version() >= version).isPresent() ? 0 : migrate(known);
            patiently(known, () -> restoreRights(known));
            return executed;
        } catch (FlywayValidateException e) {
            throw SchemaVersion.unknown();
        } catch (SQLException | FlywayException e) {
            throw DatabaseUnfit.because(e);
        }
    }

    private int migrate(Map<String, Boolean> known) throws SQLException {
        requireLock(known);
        Flyway flyway = flyway(known, actsAsOwner(known));
        int pending = flyway.info().pending().length;
        try {
            patiently(known, flyway::migrate);
            return pending;
        } catch (FlywayException e) {
            requireLock(known); // somebody may have taken it meanwhile
            if (QueryFailed.hasDependents(e)) {
                requireNoTemporaryObjects(known);
            }
            throw e;
        }
    }

    /**
     * Repeats what didn't get its locks. A migration that fails leaves nothing behind.
     *
     * @throws DatabaseUnfit with the sessions that held locks all the time
     */
    private void patiently(Map<String, Boolean> known, Step step) throws SQLException {
        long end = System.nanoTime() + patience.toNanos();
        Optional<Set<OtherSessions.Session>> always = Optional.empty();
        while (true) {
            try {
                step.run();
                return;
            } catch (SQLException | FlywayException e) {
                if (!QueryFailed.isLocked(e)) {
                    throw e;
                }
            }
            Set<OtherSessions.Session> now = withLocks(known);
            always.ifPresent(now::retainAll);
            always = Optional.of(now);
            if (System.nanoTime() > end) {
                throw OtherSessions.locked(now);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private Set<OtherSessions.Session> withLocks(Map<String, Boolean> known) throws SQLException {
        try (Connection connection = dataSource(actsAsOwner(known)).getConnection()) {
            return OtherSessions.withLocks(connection);
        }
    }

    private void requireNoTemporaryObjects(Map<String, Boolean> known) throws SQLException {
        try (Connection connection = dataSource(actsAsOwner(known)).getConnection()) {
            OtherSessions.requireNoTemporaryObjects(connection);
        }
    }

    private void requireLock(Map<String, Boolean> known) throws SQLException {
        try (Connection connection = dataSource(actsAsOwner(known)).getConnection()) {
            MigrationLock.requireFree(connection);
        }
    }

    /**
     * The names of the migrations that {@link #run} would run now, in their order. The service's
     * login can list them too, as if it were the owner's.
     *
     * @throws DatabaseUnfit if that can't be found out
     */
    public List<String> pending() {
        try {
            Map<String, Boolean> known = knownRoles();
            boolean ownerExists = !singleRole && known.containsKey(roles.owner());
            return Stream.of(flyway(known, ownerExists || actsAsOwner(known)).info().pending())
                    .map(MigrationInfo::getScript)
                    .toList();
        } catch (SQLException | FlywayException e) {
            throw DatabaseUnfit.because(e);
        }
    }

    /**
     * Checks that the login may migrate, without migrating.
     *
     * @throws DatabaseUnfit with a sentence that says what to do, if it may not
     */
    public void requireOwner() {
        try {
            requireOwner(knownRoles());
        } catch (SQLException e) {
            throw DatabaseUnfit.because(e);
        }
    }

    /** The next migration could not change objects of another owner. */
    private void requireOwner(Map<String, Boolean> known) {
        if (!singleRole && known.containsKey(roles.owner()) && !known.get(roles.owner())) {
            throw new DatabaseUnfit(
                    "login '%s' is not a member of role '%s', which owns the schema; migrate with a login that is a member of that role"
                            .formatted(login.username(), roles.owner()));
        }
    }

    private Optional<SchemaVersion> version(Map<String, Boolean> known) throws SQLException {
        try (Connection connection = dataSource(actsAsOwner(known)).getConnection()) {
            return SchemaVersion.of(connection);
        }
    }

    /**
     * Restores the rights, because somebody may have revoked or dropped some outside of migrations.
     */
    private void restoreRights(Map<String, Boolean> known) throws SQLException {
        try (Connection connection = dataSource(actsAsOwner(known)).getConnection()) {
            new Rights(connection, roles, placeholders(known, actsAsOwner(known))).restore();
        }
    }

    private static void logNewer(SchemaVersion newer) {
        log.info(
                "No migration ran: the schema's version {} is newer than this release's {}",
                newer.version(),
                SchemaVersion.OURS);
    }

    private boolean actsAsOwner(Map<String, Boolean> known) {
        return known.getOrDefault(roles.owner(), false);
    }

    private Flyway flyway(Map<String, Boolean> known, boolean ofOwner) {
        return Flyway.configure(Migrations.class.getClassLoader())
                .dataSource(dataSource(actsAsOwner(known)))
                .locations("classpath:" + FILES)
                .defaultSchema(HISTORY_SCHEMA)
                .createSchemas(true)
                .validateMigrationNaming(true)
                // a repeatable file may be renamed, split or merged with another one
                .ignoreMigrationPatterns("*:future", "repeatable:missing")
                .placeholders(placeholders(known, ofOwner))
                .load();
    }

    private Map<String, String> placeholders(Map<String, Boolean> known, boolean ofOwner) {
        return Map.of(
                "owner_role", ofOwner ? roles.owner() : login.username(),
                "app_role", role(roles.app(), known),
                "admin_role", role(roles.admin(), known),
                "tenant_admin_role", role(roles.tenantAdmin(), known),
                "auditor_role", role(roles.auditor(), known),
                "console_role", role(roles.console(), known),
                "schema_version", String.valueOf(SchemaVersion.OURS));
    }

    private PGSimpleDataSource dataSource(boolean actsAsOwner) {
        return login.source(
                "mintmark migrations", SESSION + (actsAsOwner ? " -c role=" + roles.owner() : ""));
    }

    private String role(String name, Map<String, Boolean> known) {
        return singleRole && !known.containsKey(name) ? login.username() : name;
    }

    /** The roles that exist, each with whether the login is a member of it. */
    private Map<String, Boolean> knownRoles() throws SQLException {
        Map<String, Boolean> known = new HashMap<>();
        try (Connection connection = dataSource(false).getConnection()) {
            Query.of(KNOWN_ROLES, List.of(roles.names()))
                    .each(
                            connection,
                            row -> known.put(row.getString("rolname"), row.getBoolean("is_ours")));
        }
        return known;
    }
}
