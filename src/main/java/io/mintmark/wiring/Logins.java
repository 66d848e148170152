package io.mintmark.wiring;

import io.mintmark.config.DatabaseRoles;
import io.mintmark.config.DatabaseSettings;
import io.mintmark.config.Login;
import io.mintmark.config.Password;
import io.mintmark.postgres.DatabaseLogin;
import io.mintmark.postgres.Migrations;
import io.mintmark.postgres.Roles;

/** Who logs in to the database for what, from the settings. */
public final class Logins {
    private Logins() {}

    /** The running service. */
    public static DatabaseLogin service(DatabaseSettings settings) {
        return login(settings, settings.login());
    }

    /** Whoever brings the schema up to date. */
    public static Migrations migrations(DatabaseSettings settings) {
        DatabaseRoles names = settings.roles();
        return new Migrations(
                login(settings, settings.migrator()),
                new Roles(
                        names.owner(),
                        names.app(),
                        names.admin(),
                        names.tenantAdmin(),
                        names.auditor()),
                settings.singleRole());
    }

    private static DatabaseLogin login(DatabaseSettings settings, Login login) {
        return new DatabaseLogin(
                settings.url().value(), login.username(), login.password().map(Password::reveal));
    }
}
