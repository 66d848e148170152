package io.mintmark.wiring;

import io.mintmark.config.DatabaseSettings;
import io.mintmark.config.InvalidSettings;
import io.mintmark.postgres.Database;
import io.mintmark.postgres.DatabaseHealth;
import io.mintmark.postgres.DatabaseUnfit;
import io.mintmark.postgres.LoginCheck;
import io.mintmark.postgres.SchemaCheck;
import io.mintmark.wiring.Checkup.Area;
import io.mintmark.wiring.Checkup.Finding;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The part of a check that asks the database; what is wrong doesn't keep it from asking on. */
final class DatabaseCheckup {
    private final DatabaseSettings settings;
    private final InstantSource clock;

    DatabaseCheckup(DatabaseSettings settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
    }

    List<Finding> run() {
        try (Database database = DatabaseWait.patient(settings)) {
            LoginCheck login = new LoginCheck(database);
            List<String> unreachable = faults(login::requireAnswer);
            if (!unreachable.isEmpty()) {
                return List.of(
                        Finding.of(Area.DATABASE, unreachable),
                        Finding.unknown(Area.ROLES, "the database can't be asked"),
                        Finding.unknown(Area.SCHEMA, "the database can't be asked"));
            }
            return List.of(
                    Finding.of(Area.DATABASE, databaseFaults(database)),
                    Finding.of(Area.ROLES, roleFaults(login)),
                    schema(database, login));
        }
    }

    private List<String> databaseFaults(Database database) {
        DatabaseHealth health = new DatabaseHealth(database, clock);
        return health.fault().map(fault -> List.of(named(fault))).orElse(List.of());
    }

    private List<String> roleFaults(LoginCheck login) {
        List<String> faults = new ArrayList<>();
        if (!settings.singleRole()) {
            login.missing(Logins.roles(settings.roles()))
                    .forEach(role ->
                            faults.add(
                                    "role '%s' doesn't exist; run db/roles.sql".formatted(role)));
        }
        faults.addAll(
                faults(() ->
                        login.power()
                                .flatMap(power -> Logins.tooMuchPower(settings, power))
                                .ifPresent(faults::add)));
        if (settings.migrate()) {
            faults.addAll(faults(() -> Logins.migrations(settings).requireOwner()));
        }
        return faults;
    }

    private Finding schema(Database database, LoginCheck login) {
        SchemaCheck schema = new SchemaCheck(database);
        List<String> faults = new ArrayList<>();
        Optional<String> note = Optional.empty();
        try {
            if (settings.migrate() && schema.isOlderThanOurs()) {
                note = Optional.of("the start brings it up to date");
            } else {
                login.requireSchema();
                schema.require(ProgramVersion.current());
            }
        } catch (DatabaseUnfit e) {
            faults.add(named(String.valueOf(e.getMessage())));
        }
        return new Finding(Area.SCHEMA, faults, note);
    }

    private List<String> faults(Runnable question) {
        try {
            question.run();
            return List.of();
        } catch (DatabaseUnfit e) {
            return List.of(named(String.valueOf(e.getMessage())));
        } catch (InvalidSettings e) {
            // told among the settings
            return List.of();
        }
    }

    private String named(String fault) {
        return "DATABASE_URL %s: %s".formatted(settings.url(), fault);
    }
}
