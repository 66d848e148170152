package io.mintmark.wiring;

import io.mintmark.config.DatabaseRoles;
import io.mintmark.config.DatabaseSettings;
import io.mintmark.config.DatabaseSettings.Login;
import io.mintmark.config.Password;
import io.mintmark.postgres.connection.DatabaseLogin;
import io.mintmark.postgres.connection.Roles;
import io.mintmark.postgres.migration.Migrations;
import io.mintmark.postgres.verify.PostgresLog;

import java.util.Optional;

/** Who logs in to the database for what, from the settings. */
public final class Logins {
    private Logins() {}

    /** The running service. */
    public static DatabaseLogin service(DatabaseSettings settings) {
        return login(settings, settings.login());
    }

    public static Migrations migrations(DatabaseSettings settings) {
        return new Migrations(
                login(settings, settings.migrator()),
                roles(settings.roles()),
                settings.singleRole());
    }

    /** The audit log, as the service's login reads it. */
    public static PostgresLog log(DatabaseSettings settings) {
        return log(settings, service(settings));
    }

    /** The audit log, as another login than the service's reads it. */
    public static PostgresLog log(DatabaseSettings settings, DatabaseLogin login) {
        return new PostgresLog(login, roles(settings.roles()));
    }

    /** The group roles. */
    public static Roles roles(DatabaseRoles names) {
        return new Roles(
                names.owner(),
                names.app(),
                names.admin(),
                names.tenantAdmin(),
                names.auditor(),
                names.console());
    }

    /**
     * Why the service's login has too many permissions; empty if the operator accepts them. An
     * attacker who takes over the service could then rewrite the log.
     *
     * @param power the end of a sentence
     */
    static Optional<String> tooMuchPower(DatabaseSettings settings, String power) {
        return settings.singleRole()
                ? Optional.empty()
                : Optional.of(
                        "DATABASE_USERNAME: login '%s' %s, so the log would prove nothing; make it a"
                                        .formatted(settings.login().username(), power)
                                + " member of only the role '%s' (db/roles.sql), or accept that with"
                                        .formatted(settings.roles().app())
                                + " DATABASE_SINGLE_ROLE=true");
    }

    private static DatabaseLogin login(DatabaseSettings settings, Login login) {
        return new DatabaseLogin(
                settings.url().value(),
                login.username(),
                () -> login.password().map(Password::revealAgain));
    }
}
