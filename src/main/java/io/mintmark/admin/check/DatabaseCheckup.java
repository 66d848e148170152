package io.mintmark.admin.check;

import io.mintmark.admin.check.AreaFindings.Area;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.InvalidSettings;
import io.mintmark.base.schema.LoginCheck;
import io.mintmark.base.schema.Migrations;
import io.mintmark.base.schema.SchemaCheck;
import io.mintmark.base.schema.SchemaCheck.Age;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseHealth;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.sql.Roles;
import io.mintmark.base.start.DatabaseWait;
import io.mintmark.base.start.ProgramVersion;
import io.mintmark.base.start.StartFailed;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.catalogue.PostgresCatalogue;
import io.mintmark.broker.grant.CatalogueMemory;
import io.mintmark.broker.metrics.TenantExpiries.Expiry;
import io.mintmark.broker.wiring.Expiries;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The checks that query the database. A failed check doesn't keep the others from running. */
final class DatabaseCheckup {
    private static final int MOST_EXPIRIES = 100;

    private final DatabaseSettings settings;
    private final InstantSource clock;
    private final Function<Database, List<String>> sealing;
    private final Function<Database, List<String>> tenantFaults;
    private final Function<Database, List<Expiry>> expiries;

    /**
     * @param sealing what keeps the audit log from being sealed in a database with a schema
     * @param tenantFaults what keeps rows of tenants from working, such as a password that is
     *     missing
     * @param expiries when certificates of tenants expire, the next one first
     */
    DatabaseCheckup(
            DatabaseSettings settings,
            InstantSource clock,
            Function<Database, List<String>> sealing,
            Function<Database, List<String>> tenantFaults,
            Function<Database, List<Expiry>> expiries) {
        this.settings = settings;
        this.clock = clock;
        this.sealing = sealing;
        this.tenantFaults = tenantFaults;
        this.expiries = expiries;
    }

    List<AreaFindings> run() {
        try (Database database = DatabaseWait.patient(settings)) {
            LoginCheck login = new LoginCheck(database);
            List<String> unreachable =
                    faults(() -> new DatabaseWait(settings).run(login::requireAnswer));
            if (!unreachable.isEmpty()) {
                return List.of(
                        AreaFindings.of(Area.DATABASE, unreachable),
                        AreaFindings.unknown(Area.ROLES, "the database can't be queried"),
                        AreaFindings.unknown(Area.SCHEMA, "the database can't be queried"));
            }
            AreaFindings schema = schema(database, login);
            boolean isReadable = schema.faults().isEmpty() && schema.notes().isEmpty();
            List<Expiry> ends = isReadable ? expiries.apply(database) : List.of();
            return List.of(
                    new AreaFindings(
                            Area.DATABASE,
                            databaseFaults(database),
                            isReadable ? ofTenants(database, ends) : List.of(),
                            lines(ends.stream().filter(one -> !isSoon(one)))),
                    new AreaFindings(
                            Area.ROLES,
                            roleFaults(login),
                            connectionNotes(login),
                            limits(login.limits())),
                    schema);
        }
    }

    /** Problems that keep single tenants from minting. */
    private List<String> ofTenants(Database database, List<Expiry> ends) {
        return Stream.of(
                        tooLarge(database),
                        tenantFaults.apply(database),
                        lines(ends.stream().filter(this::isSoon)))
                .flatMap(List::stream)
                .toList();
    }

    private boolean isSoon(Expiry one) {
        return Expiries.isSoon(one.notAfter(), clock.instant());
    }

    private List<String> lines(Stream<Expiry> expiries) {
        return expiries.limit(MOST_EXPIRIES)
                .map(one ->
                        Expiries.line(
                                "access provider '%s' of tenant '%s': the certificate in '%s'"
                                        .formatted(one.provider(), one.tenant(), one.setting()),
                                one.notAfter(),
                                clock.instant()))
                .toList();
    }

    /** Tenants that a replica refuses to read. They don't keep it from serving the others. */
    private static List<String> tooLarge(Database database) {
        CatalogueMemory memory = CatalogueMemory.ofProcess();
        try {
            List<String> tenants = new PostgresCatalogue(database).tooLarge(memory.large());
            return tenants.isEmpty()
                    ? List.of()
                    : List.of(
                            """
                            tenant_too_large: the rows of %s take more than %d KiB of memory each, \
                            the maximum with a heap of %d MiB; their mints get 503. Delete unused \
                            keys and globs of these tenants, or raise the heap.\
                            """
                                    .formatted(
                                            String.join(", ", tenants),
                                            memory.large() / 1024,
                                            memory.heap() >> 20));
        } catch (Unavailable e) {
            return List.of("the sizes of tenants were not checked: " + e.getMessage());
        }
    }

    /** A replica opens its connections when it needs them, so a start succeeds all the same. */
    private List<String> connectionNotes(LoginCheck login) {
        int needed = settings.poolSize();
        return login
                .mostConnections()
                .filter(most -> most < needed)
                .map(most ->
                        """
                        login '%s' may open %d connections (CONNECTION LIMIT of the login or the \
                        database), but each replica's pool has up to %d: requests would get 503 under \
                        load. Raise the limit to at least %d for each replica, or lower DATABASE_POOL_SIZE.\
                        """
                                .formatted(settings.login().username(), most, needed, needed))
                .stream()
                .toList();
    }

    private static List<String> limits(LoginCheck.Limits limits) {
        List<String> facts = new ArrayList<>();
        facts.add(
                limits.limited()
                        ? "the limits of db/limit-logins.sql are in force"
                        : "any login can stop all mints with locks that PostgreSQL lets every"
                                + " login take; let a superuser run db/limit-logins.sql");
        if (limits.prepared() > 0) {
            facts.add(
                    "max_prepared_transactions is %d, so a prepared transaction can keep locks without a session; set it to 0"
                            .formatted(limits.prepared()));
        }
        return facts;
    }

    private List<String> databaseFaults(Database database) {
        DatabaseHealth health = new DatabaseHealth(database, Clocks.of(clock));
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
            faults.addAll(faults(() -> Migrations.of(settings).requireOwner()));
        }
        return faults;
    }

    private AreaFindings schema(Database database, LoginCheck login) {
        SchemaCheck schema = new SchemaCheck(database);
        List<String> faults = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        try {
            Age age = schema.age();
            if (age == Age.NONE || age == Age.OLDER) {
                notes.addAll(migrations(schema, settings.migrate()));
                if (!settings.migrate()) {
                    schema.require(ProgramVersion.current());
                }
            } else {
                login.requireSchema();
                schema.require(ProgramVersion.current());
                faults.addAll(sealing.apply(database));
                List<String> differences = differences(schema, login);
                // of another build with the same number, whose migrations are not ours
                if (!differences.isEmpty() && age == Age.SAME && isPending()) {
                    notes.addAll(migrations(schema, false));
                    faults.add(
                            named(
                                    "the schema lacks migrations of this release (%d definitions differ); run: mintmark migrate"
                                            .formatted(differences.size())));
                } else {
                    faults.addAll(differences);
                }
            }
        } catch (DatabaseUnfit | QueryFailed e) {
            faults.add(named(String.valueOf(e.getMessage())));
        }
        return new AreaFindings(Area.SCHEMA, faults, notes);
    }

    /**
     * @param byStart whether a start would run them
     */
    private List<String> migrations(SchemaCheck schema, boolean byStart) {
        String who = byStart ? "startup will run" : "`mintmark migrate` will run";
        return List.of(
                pending()
                        .map(files ->
                                "%s %d migrations: %s"
                                        .formatted(who, files.size(), String.join(", ", files)))
                        .orElse(who + " migrations; this login can't list them"),
                schema.compared());
    }

    private boolean isPending() {
        return pending().filter(files -> !files.isEmpty()).isPresent();
    }

    /** The names of pending migrations; empty if no login can list them. */
    private Optional<List<String>> pending() {
        return pending(() -> Migrations.of(settings))
                .or(() ->
                        pending(() ->
                                new Migrations(
                                        Logins.service(settings),
                                        Logins.roles(settings.roles()),
                                        settings.singleRole())));
    }

    private static Optional<List<String>> pending(Supplier<Migrations> migrations) {
        try {
            return Optional.of(migrations.get().pending());
        } catch (DatabaseUnfit | InvalidSettings e) {
            return Optional.empty();
        }
    }

    /**
     * Differences of the schema. Privileges of a missing role can't be compared; the missing role
     * is reported by itself.
     */
    private List<String> differences(SchemaCheck schema, LoginCheck login) {
        Roles roles = Logins.roles(settings.roles());
        return settings.singleRole() || login.missing(roles).isEmpty()
                ? schema.differences(roles).stream().map(this::named).toList()
                : List.of();
    }

    private List<String> faults(Runnable question) {
        try {
            question.run();
            return List.of();
        } catch (DatabaseUnfit e) {
            return List.of(named(String.valueOf(e.getMessage())));
        } catch (StartFailed e) {
            return List.of(String.valueOf(e.getMessage()));
        } catch (InvalidSettings e) {
            // reported with the settings
            return List.of();
        }
    }

    private String named(String fault) {
        return "DATABASE_URL %s: %s".formatted(settings.url(), fault);
    }
}
