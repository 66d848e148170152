package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A configuration that is unusual accuses no mint: the command and the script both accept it. */
@Tag("heavy")
class HonestMintsTest {
    @TempDir private Path directory;
    private final TestDatabase database = TestDatabase.migrated();
    private final IssuerStandIn issuer = IssuerStandIn.start();

    @BeforeEach
    void configure() {
        database.admin(World.tenant(issuer.url(), "https://sts.example.com"));
    }

    @AfterEach
    void close() {
        issuer.close();
        database.close();
    }

    private RunningBroker broker() throws Exception {
        return RunningBroker.on(
                database,
                Map.of("AUDIT_SIGNING_KEY_FILE", AuditCommand.signingKey(directory).toString()));
    }

    private void mint(RunningBroker broker, String subject, Map<String, Object> claims) {
        String token =
                issuer.sign(
                        Map.of(
                                "iss", issuer.url(),
                                "sub", subject,
                                "aud", World.AUDIENCE,
                                "n", claims.getOrDefault("n", 0),
                                "lvl", claims.getOrDefault("lvl", 0)));
        Eventually.holds(() -> broker.mint(token, "api").status() == 200);
    }

    private void assertNobodyIsAccused() throws Exception {
        Seals.seal(database);
        Path log = directory.resolve("log.jsonl");
        for (Seals.Found found :
                List.of(
                        Seals.found(database, List.of(Seals.KEY)),
                        Seals.foundInExport(database, log, List.of(Seals.KEY)))) {
            assertEquals(List.of(), found.wrong);
            assertEquals(Map.of(), found.ungranted);
        }
        Script script = new Script(directory, database);
        for (List<String> arguments :
                List.of(List.<String>of(), List.of("--export", log.toString()))) {
            assertEquals(0, script.status(arguments), script::output);
        }
    }

    @Test
    void numbers_are_hashed_as_they_are_stored() throws Exception {
        List<String> numbers =
                List.of("1.0", "0.0", "0.00", "1.50", "100.0", "-1.0", "1E2", "1.0e2", "0.1", "7");
        for (String number : numbers) {
            database.admin(
                    """
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims)
                    VALUES ('acme', 'ci', 'ci:%1$s', 'api', '{"n": %1$s}')
                    """
                            .formatted(number));
        }
        database.admin(
                """
                UPDATE broker.identity_provider SET required_claims = '{"lvl": 2.0}' WHERE name = 'ci';
                UPDATE broker.key SET settings = settings || '{"claims": {"level": 1.0}}'
                 WHERE tenant = 'acme' AND name = 'api';
                """);
        try (RunningBroker broker = broker()) {
            for (String number : numbers) {
                BigDecimal exact = new BigDecimal(number);
                mint(broker, "ci:" + number, Map.of("n", exact, "lvl", 2));
                mint(
                        broker,
                        "ci:" + number,
                        Map.of("n", exact.stripTrailingZeros(), "lvl", new BigDecimal("2.00")));
            }
        }
        assertNobodyIsAccused();
    }

    /** Blocks by globs have one history, which has 11,000 changes here. */
    @Test
    void blocks_that_were_changed_often_are_followed() throws Exception {
        database.admin(
                """
                INSERT INTO broker.blocked_subject (subject, match, reason, enabled)
                SELECT 'bad:' || i, 'glob', 'a test', false FROM generate_series(1, 1000) AS i
                """);
        try (RunningBroker broker = broker()) {
            mint(broker, "ci:main", Map.of());
            for (int time = 0; time < 10; time++) {
                database.admin("UPDATE broker.blocked_subject SET enabled = NOT enabled");
            }
            mint(broker, "ci:main", Map.of());
        }
        assertNobodyIsAccused();
    }

    @Test
    void blocks_that_ended_or_are_of_others_cost_nothing() throws Exception {
        String subject = "ci:" + "q".repeat(200);
        database.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', '%1$s', 'api');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('other', 'acme', 'https://other.example.com', '{x}');
                INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason, until)
                SELECT 'acme', by.idp, 'ci:**' || i || '**b**c**d**e**f**q', 'glob', 'a test', by.until
                  FROM generate_series(1, 450) AS i,
                       (VALUES (NULL, now() - interval '1 hour'), ('other', NULL)) AS by (idp, until);
                """
                        .formatted(subject));
        try (RunningBroker broker = broker()) {
            mint(broker, subject, Map.of());
        }
        assertNobodyIsAccused();
    }
}
