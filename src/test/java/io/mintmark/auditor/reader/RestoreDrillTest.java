package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What docs/audit.md says of a restore, done with brokers that mint before and after it. */
class RestoreDrillTest {
    private static final String KEPT =
            """
            SELECT json_build_object('checkpoint', number, 'sealed_at', sealed_at, 'jws', jws)
              FROM audit.checkpoint ORDER BY number
            """;

    @TempDir private Path directory;

    @Test
    void a_restore_ends_with_a_log_that_verifies_with_its_gap_named() throws Exception {
        try (IssuerStandIn issuer = IssuerStandIn.start();
                TestDatabase original = TestDatabase.migrated()) {
            original.admin(World.tenant(issuer.url(), "https://sts.example.com"));
            mint(original, issuer, 2);
            try (TestDatabase restored = original.copy()) {
                Path state = directory.resolve("state.json");
                mint(original, issuer, 3);
                assertEquals(0, export(original, state).status());
                Path kept = directory.resolve("kept.jsonl");
                Files.write(kept, original.column(KEPT));
                restore(restored, issuer, kept, state);
            }
        }
    }

    private void restore(TestDatabase restored, IssuerStandIn issuer, Path kept, Path state)
            throws Exception {
        assertEquals(1, run(restored, Who.AUDITOR, verify(kept)).status());
        List<String> declaration =
                List.of(
                        "declare-gap",
                        "--checkpoints",
                        kept.toString(),
                        "--reason",
                        "restored, ticket 4711");
        assertEquals(
                "mintmark: login 'test_auditor' may not write checkpoints; set DATABASE_USERNAME to the service's login\n",
                run(restored, Who.AUDITOR, declaration).errors());
        Ran declared = run(restored, Who.APP, declaration);
        assertEquals(0, declared.status(), declared.errors());
        mint(restored, issuer, 1);
        Ran named = run(restored, Who.AUDITOR, verify(kept));
        assertEquals(3, named.status(), named.output());
        assertTrue(named.output().contains("restored, ticket 4711"), named.output());
        assertTrue(named.output().contains("Declared lost: rows 1 to 6 of chain"), named.output());
        String hash = SignedCheckpoint.in(declared.output()).orElseThrow().hash();
        List<String> accepting = new ArrayList<>(verify(kept));
        accepting.addAll(List.of("--accept-gap", hash));
        Ran accepted = run(restored, Who.AUDITOR, accepting);
        assertEquals(0, accepted.status(), accepted.output());
        Ran goneOn = export(restored, state);
        assertEquals(1, goneOn.status());
        assertTrue(goneOn.errors().contains("is not in this log"), goneOn.errors());
    }

    private void mint(TestDatabase database, IssuerStandIn issuer, int times) throws Exception {
        String key = AuditCommand.signingKey(directory).toString();
        try (RunningBroker broker =
                RunningBroker.on(database, Map.of("AUDIT_SIGNING_KEY_FILE", key))) {
            for (int i = 0; i < times; i++) {
                String token = issuer.sign(World.SUBJECT, World.AUDIENCE);
                assertEquals(200, broker.mint(token, "api").status());
            }
        }
    }

    private Ran run(TestDatabase database, Who who, List<String> arguments) throws Exception {
        return new AuditCommand(database, directory, who).run(arguments.toArray(String[]::new));
    }

    private static List<String> verify(Path kept) {
        return List.of("verify", "--checkpoints", kept.toString());
    }

    private Ran export(TestDatabase database, Path state) throws Exception {
        return run(database, Who.AUDITOR, List.of("export", "--all", "--state", state.toString()));
    }
}
