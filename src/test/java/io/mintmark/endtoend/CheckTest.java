package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.outbound.Authority;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code mintmark check}: all that is wrong, at once. */
@ResourceLock(Resources.SYSTEM_OUT)
class CheckTest {
    @AutoClose private static final TestDatabase database = TestDatabase.migrated();

    @TempDir private Path directory;

    private record Said(int status, List<String> lines) {
        /** The same without the lines that are facts, such as the age of a key. */
        Said withoutFacts() {
            return new Said(
                    status, lines.stream().filter(line -> !line.startsWith("info  ")).toList());
        }
    }

    private Said check(Map<String, String> changes) {
        return check(database, changes);
    }

    private Said check(TestDatabase database, Map<String, String> changes) {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(database, RunningBroker.freePort()));
        environment.putAll(changes);
        PrintStream before = System.out;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            int status = new Commands(environment, directory).execute("check");
            return new Said(status, out.toString(StandardCharsets.UTF_8).lines().toList());
        } finally {
            System.setOut(before);
        }
    }

    @Test
    void nothing_is_wrong_where_a_start_would_succeed() {
        assertEquals(
                new Said(
                        0,
                        List.of(
                                "ok    settings",
                                "ok    keys",
                                "ok    database",
                                "ok    roles",
                                "ok    schema",
                                "ok    identity")),
                check(Map.of()).withoutFacts());
    }

    @Test
    void an_identity_provider_of_the_brokers_own_issuer_gets_a_note() {
        try (TestDatabase own = TestDatabase.migrated()) {
            own.admin(
                    """
                    INSERT INTO broker.tenant (name) VALUES ('acme');
                    INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                    VALUES ('mirror', 'acme', 'https://broker.example.com/tenants/acme', '{acme}'),
                           ('ci', 'acme', 'https://ci.example.com', '{acme}')
                    """);
            assertEquals(
                    List.of(
                            "note  database: identity provider 'mirror' is ignored: its issuer"
                                    + " https://broker.example.com/tenants/acme is the broker's own, whose"
                                    + " tokens are never accepted; delete the row"),
                    check(own, Map.of("BROKER_URL", "https://broker.example.com")).lines().stream()
                            .filter(line -> line.contains("identity provider"))
                            .toList());
        }
    }

    @Test
    void a_ca_key_that_does_not_fit_its_certificate_gets_a_note() throws Exception {
        Ca ca = Ca.of("EC", Duration.ofDays(1));
        Files.createDirectories(directory.resolve("secrets/acme"));
        Path key = directory.resolve("secrets/acme/ca");
        Map<String, String> secrets =
                Map.of("SECRETS_DIR", directory.resolve("secrets").toString());
        try (TestDatabase own = TestDatabase.migrated()) {
            own.admin(
                    """
                    INSERT INTO broker.tenant (name) VALUES ('acme');
                    INSERT INTO broker.access_provider (tenant, name, type, settings)
                    VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}'),
                           ('acme', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": %s}')
                    """
                            .formatted(new ObjectMapper().valueToTree(ca.certificate())));
            Files.writeString(key, ca.key());
            assertTrue(
                    check(own, secrets).lines().stream()
                            .anyMatch(line ->
                                    line.startsWith(
                                            "note  database: access provider 'tls' of tenant 'acme': the certificate in 'ca_certificate' expires in 0 days, at ")));
            Ca lasting = Ca.of("EC", Duration.ofDays(100).plusHours(1));
            own.admin(
                    "UPDATE broker.access_provider SET settings = jsonb_set(settings, '{ca_certificate}', '%s') WHERE name = 'tls'"
                            .formatted(new ObjectMapper().valueToTree(lasting.certificate())));
            Files.writeString(key, lasting.key());
            List<String> lines = check(own, secrets).lines();
            assertTrue(lines.contains("ok    database"), lines::toString);
            assertTrue(
                    lines.stream()
                            .anyMatch(line ->
                                    line.startsWith(
                                            "info  database: access provider 'tls' of tenant 'acme': the certificate in 'ca_certificate' expires in 100 days, at ")),
                    lines::toString);
            assertTrue(
                    lines.stream()
                            .anyMatch(line ->
                                    line.startsWith(
                                            "info  keys: AUDIT_SIGNING_KEY_FILE: the file was written 0 days ago")),
                    lines::toString);

            Files.writeString(key, Ca.of("EC", Duration.ofDays(1)).key());
            assertTrue(
                    check(own, secrets)
                            .lines()
                            .contains(
                                    "note  database: access provider 'tls' of tenant 'acme': access"
                                            + " provider setting 'ca_certificate' is not the"
                                            + " certificate of ca_key"));

            Files.delete(key);
            Said missing = check(own, secrets);
            assertEquals(0, missing.status());
            assertEquals(
                    2,
                    missing.lines().stream()
                            .filter(line ->
                                    line.contains("SECRETS_DIR/acme/ca, which doesn't exist"))
                            .count());
        }
    }

    @Test
    void a_broker_behind_tls_that_trusts_no_proxy_gets_a_note() {
        String note = "note  settings: TRUSTED_PROXIES is empty";
        Map<String, String> https = Map.of("BROKER_URL", "https://broker.example.com");
        Map<String, String> listed = new HashMap<>(https);
        listed.put("TRUSTED_PROXIES", "10.0.0.7");

        Said said = check(https);

        assertEquals(0, said.status());
        assertTrue(said.lines().getFirst().startsWith(note), said.lines()::toString);
        assertEquals("ok    settings", check(listed).lines().getFirst());
    }

    @Test
    void a_limit_of_connections_below_the_size_of_the_pool_gets_a_note() {
        try (TestDatabase own = TestDatabase.migrated()) {
            own.runAsSuperuser(
                    "CREATE ROLE limited LOGIN PASSWORD '%s' IN ROLE %s CONNECTION LIMIT 9"
                            .formatted(TestDatabase.PASSWORD, TestDatabase.ROLES.app()));
            try {
                Map<String, String> limited = Map.of("DATABASE_USERNAME", "limited");
                Said said = check(own, limited).withoutFacts();
                assertEquals(0, said.status());
                assertTrue(
                        said.lines()
                                .get(3)
                                .startsWith("note  roles: login 'limited' may open 9 connections"),
                        said.lines()::toString);

                own.runAsSuperuser("ALTER ROLE limited CONNECTION LIMIT 10");
                assertEquals("ok    roles", check(own, limited).withoutFacts().lines().get(3));
                own.runAsSuperuser("ALTER DATABASE %s CONNECTION LIMIT 8".formatted(own.name()));
                assertTrue(
                        check(own, limited)
                                .withoutFacts()
                                .lines()
                                .get(3)
                                .contains("may open 8 connections"));
            } finally {
                own.runAsSuperuser("DROP ROLE limited");
            }
        }
    }

    @Test
    void whether_logins_are_limited_is_shown() throws IOException {
        String limited = "info  roles: the limits of db/limit-logins.sql are in force";
        try (TestDatabase own = TestDatabase.migrated()) {
            List<String> before = check(own, Map.of()).lines();
            assertTrue(
                    before.stream()
                            .anyMatch(line ->
                                    line.startsWith("info  roles: any login can stop all mints")),
                    before::toString);
            assertFalse(before.contains(limited), before::toString);

            own.runAsSuperuser(Files.readString(Path.of("db", "limit-logins.sql")));

            List<String> after = check(own, Map.of()).lines();
            assertTrue(after.contains(limited), after::toString);
            assertFalse(String.join("\n", after).contains("any login can stop"), after::toString);
        }
    }

    @Tag("heavy")
    @Test
    void a_tenant_that_is_too_large_is_named() {
        database.admin(HugeTenantTest.tenant("huge", "https://ci.example.com"));
        database.admin(HugeTenantTest.keys("huge"));

        Said said = check(Map.of());

        assertEquals(0, said.status());
        String note = ofDatabase(said);
        assertTrue(
                note.startsWith("note  database: tenant_too_large: the rows of huge take"), note);
        database.admin("UPDATE broker.tenant SET enabled = false WHERE name = 'huge'");
        assertEquals("ok    database", ofDatabase(check(Map.of())));
    }

    private static String ofDatabase(Said said) {
        return said.lines().stream()
                .filter(line -> line.substring(6).startsWith("database"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_misspelt_variable_gets_a_note() {
        Said said = check(Map.of("SERVER_PROT", "80"));

        assertEquals(0, said.status());
        assertEquals(
                "note  settings: SERVER_PROT is not a setting and has no effect; the nearest setting"
                        + " is SERVER_PORT",
                said.lines().getFirst());
    }

    @Test
    void a_consoles_certificate_and_cookie_key_are_listed_with_the_brokers() throws Exception {
        Path certificate = directory.resolve("console.crt");
        Path key = directory.resolve("console.key");
        new Authority().write("localhost", certificate, key);
        Path cookieKey = Files.writeString(directory.resolve("cookie-key"), "A".repeat(43) + "=");
        Files.setLastModifiedTime(
                cookieKey, FileTime.from(Instant.now().minus(Duration.ofDays(400))));

        Said said =
                check(
                        Map.of(
                                "CONSOLE_TLS_CERTIFICATE_FILE", certificate.toString(),
                                "CONSOLE_TLS_KEY_FILE", key.toString(),
                                "CONSOLE_URL", "https://console.example.com",
                                "CONSOLE_OIDC_ISSUER", "https://idp.example.com",
                                "CONSOLE_OIDC_CLIENT_ID", "console",
                                "CONSOLE_OIDC_CLIENT_SECRET", "secret",
                                "CONSOLE_COOKIE_KEY_FILE", cookieKey.toString()));

        assertEquals(0, said.status(), said.lines()::toString);
        assertTrue(
                said.lines().stream()
                        .anyMatch(line ->
                                line.startsWith(
                                        "note  keys: CONSOLE_TLS_CERTIFICATE_FILE: the certificate expires in 0 days, at ")),
                said.lines()::toString);
        assertTrue(
                said.lines()
                        .contains(
                                "info  keys: CONSOLE_COOKIE_KEY_FILE: the file was written 400 days ago"),
                said.lines()::toString);
    }

    @Test
    void a_certificate_whose_key_does_not_fit_is_wrong() throws Exception {
        Path certificate = directory.resolve("tls.crt");
        Path key = directory.resolve("tls.key");
        new Authority().write("localhost", certificate, key);
        PemFiles.p256(key);

        Said said =
                check(
                        Map.of(
                                "ADMIN_TLS_CERTIFICATE_FILE", certificate.toString(),
                                "ADMIN_TLS_KEY_FILE", key.toString()));

        assertEquals(1, said.status());
        assertTrue(
                said.lines().get(1).startsWith("WRONG keys: ADMIN_TLS_CERTIFICATE_FILE and"),
                said.lines()::toString);
    }

    @Test
    void faults_of_all_areas_are_told_together() throws Exception {
        Path empty = Files.createDirectory(directory.resolve("no-keys"));
        Path garbage = Files.writeString(directory.resolve("audit.pem"), "garbage");

        Said said =
                check(
                        Map.of(
                                "PROVIDER_TIMEOUT",
                                "ten",
                                "RATE_LIMIT_BURST",
                                "many",
                                "AUDIT_SIGNING_KEY_FILE",
                                garbage.toString(),
                                "BROKER_SIGNING_KEYS_DIR",
                                empty.toString(),
                                "DATABASE_USERNAME",
                                Who.OWNER.login(),
                                "DATABASE_ADMIN_ROLE",
                                "mintmark_nobody"));

        assertEquals(2, said.status());
        assertEquals(
                List.of(
                        "WRONG settings: RATE_LIMIT_BURST",
                        "WRONG settings: PROVIDER_TIMEOUT",
                        "WRONG keys: AUDIT_SIGNING_KEY_FILE:",
                        "WRONG keys: BROKER_SIGNING_KEYS_DIR",
                        "ok    database",
                        "WRONG roles: role",
                        "WRONG roles: DATABASE_USERNAME:",
                        "ok    schema",
                        "note  identity: not"),
                said.withoutFacts().lines().stream().map(CheckTest::firstWords).toList());
    }

    /** Up to the one that says what is wrong. */
    private static String firstWords(String line) {
        String[] words = line.split(" +", -1);
        return line.startsWith("ok") ? line : "%-5s %s %s".formatted(words[0], words[1], words[2]);
    }

    @Test
    void keys_that_no_setting_names_are_not_well() {
        Said said = check(Map.of("AUDIT_SIGNING_KEY_FILE", ""));

        assertEquals(2, said.status());
        assertTrue(
                said.lines()
                        .contains(
                                "note  keys: not checked: the settings for this check have the errors above"),
                said.lines()::toString);
    }

    @Test
    void a_database_that_is_not_there_is_one_fault() {
        Said said =
                check(
                        Map.of(
                                "DATABASE_URL",
                                "jdbc:postgresql://localhost:%d/x"
                                        .formatted(RunningBroker.freePort()),
                                "DATABASE_START_TIMEOUT",
                                "PT1S"));

        assertEquals(1, said.status());
        assertEquals(1, said.lines().stream().filter(line -> line.startsWith("WRONG")).count());
        assertTrue(
                said.lines().contains("note  schema: not checked: the database can't be queried"));
    }

    /** The first and the last file, and how many. */
    private static void assertPending(String begin, Said said) {
        String line =
                said.lines().stream()
                        .filter(each -> each.startsWith(begin))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(said.lines()));
        String files = line.substring(line.indexOf(": V") + 2);
        assertTrue(files.startsWith("V01__schemas.sql, V02__"), line);
        assertTrue(files.endsWith(", R__99_schema_version.sql"), line);
        assertTrue(
                line.startsWith(
                        "%s %d migrations: ".formatted(begin, files.split(", ", -1).length)),
                line);
    }

    @Test
    void an_empty_database_is_wrong_only_where_the_start_would_not_migrate_it() {
        try (TestDatabase empty = TestDatabase.unmigrated()) {
            Said migrating = check(Map.of("DATABASE_URL", empty.url()));
            Said not = check(Map.of("DATABASE_URL", empty.url(), "DATABASE_MIGRATE", "false"));

            assertEquals(0, migrating.status());
            assertPending("note  schema: startup will run", migrating);
            assertPending("note  schema: `mintmark migrate` will run", not);
            assertEquals(1, not.status());
            assertTrue(String.join("\n", not.lines()).contains("mintmark migrate"));
            assertEquals(
                    List.of("0"),
                    empty.column(
                            Who.OWNER,
                            "SELECT count(*)::text FROM pg_namespace WHERE nspname = 'audit'"));
        }
    }

    @Test
    void an_identity_that_can_not_be_had_is_told() {
        Said said =
                check(
                        Map.of(
                                "BROKER_IDP_TYPE",
                                "token-file",
                                "BROKER_IDP_TOKEN_FILE",
                                RunningBroker.environment(database, RunningBroker.freePort())
                                        .get("AUDIT_SIGNING_KEY_FILE")));

        assertEquals(1, said.status());
        assertTrue(
                said.lines().stream().anyMatch(line -> line.startsWith("WRONG identity: ")),
                said.lines().toString());
        assertFalse(String.join("\n", said.lines()).contains("PRIVATE KEY"));
    }

    @Test
    void the_next_releases_check_lists_what_is_pending_and_compares_nothing() {
        try (TestDatabase older = TestDatabase.migrated()) {
            older.column(
                    Who.OWNER,
                    """
                    WITH forgotten AS (
                        DELETE FROM runtime.flyway_schema_history
                         WHERE script IN ('R__98_lint_findings.sql', 'R__99_schema_version.sql') RETURNING 1)
                    UPDATE runtime.schema_version SET version = version - 1 RETURNING version::text
                    """);
            Map<String, String> documented =
                    Map.of(
                            "DATABASE_MIGRATE", "false",
                            "DATABASE_OWNER_USERNAME", "",
                            "DATABASE_OWNER_PASSWORD", "");

            Said said = check(older, documented);

            assertEquals(1, said.status());
            List<String> schema =
                    said.lines().stream().filter(line -> line.contains(" schema: ")).toList();
            assertEquals(3, schema.size(), schema::toString);
            assertTrue(schema.getFirst().contains("run: mintmark migrate"), schema::toString);
            assertEquals(
                    "note  schema: `mintmark migrate` will run 2 migrations:"
                            + " R__98_lint_findings.sql, R__99_schema_version.sql",
                    schema.get(1));
            assertTrue(
                    schema.get(2).contains("Mintmark 0.1.0 and newer may serve while"),
                    schema::toString);
        }
    }

    @Test
    void a_schema_of_another_build_with_the_same_number_is_one_fault() {
        try (TestDatabase other = TestDatabase.migrated()) {
            other.column(
                    Who.OWNER,
                    "DELETE FROM runtime.flyway_schema_history WHERE script = 'R__12_lint.sql' RETURNING 1");
            other.runAsSuperuser(
                    "ALTER TABLE log.open_mint ADD COLUMN old int; ALTER TABLE work.sealing ADD COLUMN old int");

            Said said = check(other, Map.of("DATABASE_MIGRATE", "false"));

            assertEquals(
                    List.of("WRONG", "note", "note"),
                    said.lines().stream()
                            .filter(line -> line.contains(" schema: "))
                            .map(line -> line.split(" ", 2)[0])
                            .toList());
            assertTrue(
                    String.join("\n", said.lines()).contains("run 1 migrations: R__12_lint.sql"),
                    said.lines()::toString);
        }
    }
}
