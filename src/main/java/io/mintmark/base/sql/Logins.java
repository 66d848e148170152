package io.mintmark.base.sql;

import io.mintmark.base.config.DatabaseRoles;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.DatabaseSettings.Login;
import io.mintmark.base.config.Password;

import java.util.Optional;

/** The logins to the database, one for each purpose, from the settings. */
public final class Logins {
    private Logins() {}

    /** The running service. */
    public static DatabaseLogin service(DatabaseSettings settings) {
        return login(settings, settings.login());
    }

    /** The login that migrates the schema. */
    public static DatabaseLogin migrator(DatabaseSettings settings) {
        return login(settings, settings.migrator());
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
    public static Optional<String> tooMuchPower(DatabaseSettings settings, String power) {
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
