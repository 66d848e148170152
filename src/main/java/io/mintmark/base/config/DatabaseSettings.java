package io.mintmark.base.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The database and its logins.
 *
 * @param login the service's; in a subcommand, the user's
 * @param migrate whether the schema is migrated at start
 * @param owner the login for migrations, if not the service's
 * @param singleRole whether the service may run with a login that could change the audit log
 * @param startTimeout how long a start waits for an unreachable database
 * @param poolSize the most connections of a replica's pool
 */
public record DatabaseSettings(
        JdbcUrl url,
        Login login,
        boolean migrate,
        Optional<Login> owner,
        boolean singleRole,
        Duration startTimeout,
        int poolSize,
        DatabaseRoles roles) {
    /**
     * A login to the database.
     *
     * @param password empty where the server asks for none
     */
    public record Login(String username, Optional<Password> password) {}

    static final Setting<JdbcUrl> URL =
            Setting.required("database.url", JdbcUrl.FORMAT, "JDBC URL of the database.");
    static final Setting<String> USERNAME =
            Setting.required(
                    "database.username",
                    Formats.USER_NAME,
                    "Database login that the broker uses to serve requests.");
    static final Setting<Password> PASSWORD =
            Setting.of(
                    "database.password",
                    Password.FORMAT,
                    "Password of `DATABASE_USERNAME`, if this login needs a password.");
    static final Setting<Path> PASSWORD_FILE =
            Setting.of(
                    "database.password-file",
                    Password.FILE,
                    "File that contains `DATABASE_PASSWORD`.");
    static final Setting<Boolean> MIGRATE =
            Setting.of(
                    "database.migrate",
                    Formats.BOOLEAN,
                    "true",
                    "Whether the broker upgrades the schema at startup.");
    static final Setting<String> OWNER_USERNAME =
            Setting.of(
                    "database.owner-username",
                    Formats.USER_NAME,
                    "Login that upgrades the schema, a member of `DATABASE_OWNER_ROLE`. If"
                            + " not set, the login `DATABASE_USERNAME` upgrades the schema, which"
                            + " requires `DATABASE_SINGLE_ROLE`.");
    static final Setting<Password> OWNER_PASSWORD =
            Setting.of(
                    "database.owner-password",
                    Password.FORMAT,
                    "Password of `DATABASE_OWNER_USERNAME`, if this login needs a password.");
    static final Setting<Path> OWNER_PASSWORD_FILE =
            Setting.of(
                    "database.owner-password-file",
                    Password.FILE,
                    "File that contains `DATABASE_OWNER_PASSWORD`.");
    static final Setting<Boolean> SINGLE_ROLE =
            Setting.of(
                    "database.single-role",
                    Formats.BOOLEAN,
                    "false",
                    "Whether the broker may serve with a login that can change the audit log.");
    static final Setting<Duration> START_TIMEOUT =
            Setting.of(
                    "database.start-timeout",
                    Formats.duration(Duration.ZERO, Duration.ofMinutes(10)),
                    "PT10S",
                    "Time for which the broker waits at startup if the database is"
                            + " unreachable.");

    static final Setting<Integer> POOL_SIZE =
            Setting.of(
                    "database.pool-size",
                    Formats.wholeNumber(3, 200),
                    "10",
                    "Maximum number of database connections of a replica. Two of them write.");

    static final List<Setting<?>> TABLE =
            List.of(
                    URL,
                    USERNAME,
                    PASSWORD,
                    PASSWORD_FILE,
                    MIGRATE,
                    OWNER_USERNAME,
                    OWNER_PASSWORD,
                    OWNER_PASSWORD_FILE,
                    SINGLE_ROLE,
                    START_TIMEOUT,
                    POOL_SIZE);

    /**
     * The login for migrations.
     *
     * @throws InvalidSettings if there is none
     */
    public Login migrator() {
        if (owner.isEmpty() && !singleRole) {
            throw new InvalidSettings(
                    """
                    %s is not set: set the login for migrations, or run the subcommand migrate \
                    with it and set %s=false, or use one login for everything with %s=true\
                    """
                            .formatted(OWNER_USERNAME.name(), MIGRATE.name(), SINGLE_ROLE.name()));
        }
        return owner.orElse(login);
    }

    static DatabaseSettings from(Values values) {
        return with(values, service(values), owner(values));
    }

    /** The settings for a migration alone. The owner's login may be set under either name. */
    static DatabaseSettings forMigrating(Values values) {
        Login migrator = owner(values).orElseGet(() -> service(values));
        return with(values, migrator, Optional.of(migrator));
    }

    private static Login service(Values values) {
        return new Login(values.get(USERNAME), Password.from(values, PASSWORD, PASSWORD_FILE));
    }

    private static DatabaseSettings with(Values values, Login login, Optional<Login> owner) {
        return new DatabaseSettings(
                values.get(URL),
                login,
                values.get(MIGRATE),
                owner,
                values.get(SINGLE_ROLE),
                values.get(START_TIMEOUT),
                values.get(POOL_SIZE),
                DatabaseRoles.from(values));
    }

    private static Optional<Login> owner(Values values) {
        Optional<String> username = values.find(OWNER_USERNAME);
        Optional<Password> password = Password.from(values, OWNER_PASSWORD, OWNER_PASSWORD_FILE);
        if (username.isEmpty() && password.isPresent()) {
            throw new InvalidSettings(
                    "%s is set without %s: set the login that the password belongs to"
                            .formatted(OWNER_PASSWORD.name(), OWNER_USERNAME.name()));
        }
        return username.map(name -> new Login(name, password));
    }

    /**
     * The address of a PostgreSQL database, as its JDBC driver takes it. Its parameters may hold a
     * password, so they aren't printed.
     */
    public record JdbcUrl(String value) {
        static final String PREFIX = "jdbc:postgresql:";

        /** The format of the setting, as errors describe it. */
        static final Format<JdbcUrl> FORMAT =
                Format.hidden(
                        "a JDBC URL of a PostgreSQL database such as jdbc:postgresql://localhost:5432/mintmark",
                        JdbcUrl::new);

        public JdbcUrl {
            if (!value.startsWith(PREFIX) || value.length() == PREFIX.length()) {
                throw new IllegalArgumentException("a database URL must start with " + PREFIX);
            }
        }

        @Override
        public String toString() {
            int parameters = value.indexOf('?');
            return parameters < 0 ? value : value.substring(0, parameters) + "?(hidden)";
        }
    }
}
