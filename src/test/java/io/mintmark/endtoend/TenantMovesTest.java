package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A tenant moves from the database of one broker to that of another, and back. */
class TenantMovesTest {
    private static final String ROWS =
            "SELECT to_jsonb(g)::text FROM broker.subject_grant AS g ORDER BY g.id";

    private static final String HISTORY =
            "SELECT revision || ' ' || encode(hash, 'hex') FROM audit.config_change"
                    + " WHERE tenant = 'acme' AND revision <= %s ORDER BY revision";

    private static final String ONE_PERSON =
            """
            INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'api', 'ci', 'dev', 3600);
            INSERT INTO broker.access_approver (rule, role_name, idp, subject)
            SELECT id, 'test_admin', 'ci', 'ann' FROM broker.access_rule WHERE subject = 'dev';
            """;

    private static final String NAMES =
            """
            SELECT concat_ws(' ', role_name, issuer, subject) FROM runtime.joined_subject WHERE tenant = 'acme'
            UNION ALL SELECT concat_ws(' ', idp, issuer) FROM runtime.named_issuer WHERE tenant = 'acme' ORDER BY 1
            """;

    private static final String OF_BETA =
            "SELECT to_jsonb(t)::text FROM broker.%s AS t WHERE tenant = 'beta' ORDER BY 1";

    @TempDir private Path directory;
    private World world;
    private MovingCell source;
    private MovingCell target;
    private Path file;

    @BeforeEach
    void start() throws Exception {
        world = new World();
        source = MovingCell.of(world, directory);
        target = MovingCell.make(directory);
        file = directory.resolve("acme.tenant");
        Answer minted = world.broker().mint(world.token(), "api");
        assertEquals(200, minted.status(), minted.toString());
    }

    @AfterEach
    void stop() {
        target.broker().close();
        target.database().close();
        world.close();
    }

    private MovingCell.Ran exported(MovingCell from, MovingCell to) {
        return from.export(file, to);
    }

    private MovingCell.Ran imported(MovingCell to, MovingCell from, String... further)
            throws Exception {
        return to.takeIn(file, from, further);
    }

    private static void assertSucceeds(MovingCell.Ran ran) {
        assertEquals(0, ran.status(), ran.output());
    }

    private static void assertFails(String reason, MovingCell.Ran ran) {
        assertEquals(1, ran.status(), ran.output());
        assertTrue(ran.output().contains(reason), ran.output());
    }

    private void assertNothingImported() {
        target.database().assertRows("SELECT name FROM broker.tenant");
        target.database()
                .assertRows("SELECT tenant FROM audit.config_change WHERE tenant = 'acme'");
    }

    private static void assertMoved(Answer answer, MovingCell to) {
        assertEquals("421 TENANT_MOVED ", answer.verdict());
        assertEquals(to.broker().url().toString(), answer.at("/details/url"));
    }

    @Test
    void a_tenant_moves_with_its_ids_history_and_issuer_and_both_logs_verify() throws Exception {
        List<String> grants = source.database().column(ROWS);
        source.database().admin(ONE_PERSON);
        List<String> names = source.database().column(NAMES);
        assertTrue(names.size() > 1, names.toString());

        assertSucceeds(exported(source, target));
        assertMoved(world.broker().mint(world.token(), "api"), target);
        assertMoved(world.broker().keys(world.token()), target);
        Answer exchange =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/oauth2/token")
                                        .header("Content-Type", "application/x-www-form-urlencoded")
                                        .POST(
                                                BodyPublishers.ofString(
                                                        "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&audience=api"
                                                                + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt"
                                                                + "&subject_token="
                                                                + world.token())));
        assertEquals("421 invalid_request", exchange.status() + " " + exchange.at("/error"));
        assertSucceeds(imported(target, source));

        Answer minted = target.broker().mint(world.token(), "api");
        assertEquals(200, minted.status(), minted.toString());
        String issuer =
                SignedJWT.parse(minted.at("/credentials/api/ACCESS_TOKEN"))
                        .getJWTClaimsSet()
                        .getIssuer();
        assertEquals(source.broker().url() + "/tenants/acme", issuer);
        for (MovingCell cell : List.of(source, target)) {
            Answer discovery = cell.broker().get("/tenants/acme/.well-known/openid-configuration");
            assertEquals(issuer, discovery.at("/issuer"));
            assertEquals(issuer + "/.well-known/jwks.json", discovery.at("/jwks_uri"));
        }
        assertEquals(
                target.broker().url() + "/tenants/beta",
                target.broker()
                        .get("/tenants/beta/.well-known/openid-configuration")
                        .at("/issuer"));
        assertEquals(grants, target.database().column(ROWS));
        assertEquals(names, target.database().column(NAMES));
        String id = "SELECT external_id FROM broker.tenant WHERE name = 'acme'";
        assertEquals(source.database().value(id), target.database().value(id));
        String last =
                source.database()
                        .value(
                                "SELECT max(revision) FROM audit.config_change WHERE tenant ="
                                        + " 'acme'");
        assertEquals(
                source.database().column(HISTORY.formatted(last)),
                target.database().column(HISTORY.formatted(last)));
        target.database().admin("UPDATE broker.key SET description = 'There' WHERE name = 'api'");
        String left = source.assertVerifies(target);
        String came = target.assertVerifies(source);
        String end =
                source.database()
                        .value(
                                "SELECT 'revision of its history at ' || '%s cell (' || encode(hash, 'hex') || ')' FROM audit.config_change"
                                        + " WHERE tenant = 'acme' ORDER BY revision DESC LIMIT 1");
        assertTrue(left.contains("which moved to " + target.broker().url() + ", is"), left);
        assertTrue(left.contains(end.formatted("this")), left);
        assertTrue(came.contains("which came from " + source.broker().url()), came);
        assertTrue(came.contains(end.formatted("that")), came);
        assertFalse(came.contains("which moved to"), came);
    }

    @Test
    void nothing_of_a_tenant_that_moved_can_be_changed_where_it_was() {
        assertSucceeds(exported(source, target));

        IllegalStateException refused =
                assertThrows(
                        IllegalStateException.class,
                        () -> source.database().admin("UPDATE broker.key SET enabled = false"));
        String why = String.valueOf(refused.getCause());
        assertTrue(why.contains("moved to another cell"), why);
    }

    @Test
    void what_was_sealed_long_after_it_was_made_is_proven_by_the_statement_alone()
            throws Exception {
        Eventually.holds(
                () -> !target.database().column("SELECT number FROM audit.checkpoint").isEmpty());
        source.broker().stop();
        source.database()
                .runAsSuperuser(
                        """
                        ALTER TABLE log.config_change DISABLE TRIGGER is_append_only;
                        DO $$
                        DECLARE
                            c log.config_change;
                            prev bytea := decode(repeat('00', 32), 'hex');
                        BEGIN
                            FOR c IN SELECT * FROM log.config_change WHERE tenant = 'acme' ORDER BY revision LOOP
                                UPDATE log.config_change AS w SET changed_at = c.changed_at - interval '1 day', prev_hash = prev,
                                       hash = internal.change_hash(prev, c.tenant, c.revision, c.table_name, c.operation, c.before, c.after,
                                                                   c.changed_by, c.changed_at - interval '1 day', c.transaction_id)
                                 WHERE w.tenant = 'acme' AND w.revision = c.revision RETURNING hash INTO prev;
                            END LOOP;
                        END $$;
                        ALTER TABLE log.config_change ENABLE ALWAYS TRIGGER is_append_only;
                        """);
        assertSucceeds(exported(source, target));
        assertSucceeds(imported(target, source));
        target.broker().stop();

        target.assertVerifies(source);
        MovingCell.Ran untrusting = target.run(Who.AUDITOR, "audit", "verify");
        assertEquals(3, untrusting.status(), untrusting.output());
        assertTrue(untrusting.output().contains("DOUBT"), untrusting.output());
    }

    @Test
    void a_file_that_was_changed_cut_or_signed_by_others_is_not_taken_in() throws Exception {
        assertSucceeds(exported(source, target));
        String whole = Files.readString(file);

        assertFails("is not among the trusted audit keys", imported(target, target));
        assertFails(
                "no key of another cell is trusted",
                target.run(Who.ADMIN, "tenant", "import", file.toString()));
        Files.writeString(file, whole.replace("\"ci:main\"", "\"ci:evil\""));
        assertFails("was changed after it was signed", imported(target, source));
        Files.writeString(file, whole.substring(0, whole.length() - 100));
        assertFails("its end is missing", imported(target, source));
        Files.writeString(file, whole);
        assertFails(
                "permission denied",
                target.run(
                        Who.TENANT_ADMIN,
                        "tenant",
                        "import",
                        file.toString(),
                        "--keys",
                        source.publicKey().toString()));
        assertNothingImported();
        assertSucceeds(imported(target, source));
    }

    /** Whoever made it: another cell may say all about its own tenant, and nothing about others. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "subject_grant",
                "tenant_admin",
                "access_rule",
                "identity_provider",
                "key",
                "blocked_subject"
            })
    void a_file_writes_no_row_of_another_tenant(String table) {
        target.database()
                .admin(
                        World.tenant(world.issuer().url(), world.sts().endpoint())
                                .replace("acme", "beta"));
        target.database().admin("DELETE FROM broker.subject_grant");
        List<String> before = target.database().column(OF_BETA.formatted(table));
        String content =
                source.database()
                        .column(
                                Who.ADMIN,
                                """
                                SELECT jsonb_set(c, '{rows,%1$s}', c -> 'rows' -> '%1$s' || '[{"tenant": "beta", "id": 4711}]')
                                  FROM (SELECT broker.export_tenant('acme', 'https://b.example.com', 'https://a.example.com')::jsonb) AS e (c)
                                """
                                        .formatted(table))
                        .getFirst();

        IllegalStateException refused =
                assertThrows(
                        IllegalStateException.class,
                        () ->
                                target.database()
                                        .admin(
                                                "SELECT broker.import_tenant($file$%s$file$, 'https://a.example.com', 'x', false)"
                                                        .formatted(content)));
        String why = String.valueOf(refused.getCause());
        assertTrue(
                why.contains("a row of broker." + table + " that belongs to tenant \"beta\""), why);
        assertEquals(before, target.database().column(OF_BETA.formatted(table)));
    }

    @Test
    void a_failure_between_the_steps_leaves_a_tenant_that_can_be_moved_on() throws Exception {
        Path elsewhere = directory.resolve("none").resolve("acme.tenant");
        MovingCell.Ran failed =
                source.run(
                        Who.ADMIN,
                        "tenant",
                        "export",
                        "acme",
                        "--output",
                        elsewhere.toString(),
                        "--to",
                        target.broker().url().toString());
        assertFails("run the command again", failed);
        assertMoved(world.broker().mint(world.token(), "api"), target);

        assertSucceeds(exported(source, target));
        assertSucceeds(exported(source, target));
        MovingCell.Ran dry = imported(target, source, "--dry-run");
        assertSucceeds(dry);
        assertTrue(dry.output().contains("broker.subject_grant: 2"), dry.output());
        assertNothingImported();
        assertSucceeds(imported(target, source));
        assertFails("was imported from this file already", imported(target, source));
        assertSucceeds(exported(source, target));
        assertFails("exists here", imported(target, source));
    }

    @Test
    void ids_and_issuers_of_others_are_not_taken_over() throws Exception {
        String armed =
                "SELECT tgenabled::text || ' ' || count(*) FROM pg_trigger WHERE NOT tgisinternal"
                        + " GROUP BY tgenabled";
        List<String> before = target.database().column(armed);
        target.database()
                .admin(
                        World.tenant(world.issuer().url(), world.sts().endpoint())
                                .replace("acme", "beta"));
        assertSucceeds(exported(source, target));

        assertFails("another tenant at this cell has a row with that id", imported(target, source));
        target.database().admin("DELETE FROM broker.subject_grant");
        assertFails(
                "in the history of this cell has a grant with that id", imported(target, source));
        assertEquals(before, target.database().column(armed));
        assertEquals(List.of("beta"), target.database().column("SELECT name FROM broker.tenant"));
    }

    @Test
    void a_tenant_comes_back_with_what_was_changed_meanwhile() throws Exception {
        assertSucceeds(exported(source, target));
        assertSucceeds(imported(target, source));
        target.database().admin("DELETE FROM broker.subject_grant WHERE key = 'deploy'");
        target.database()
                .admin(
                        "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES"
                                + " ('acme', 'ci', 'ci:main', 'spare')");

        assertSucceeds(exported(target, source));
        assertMoved(target.broker().mint(world.token(), "spare"), source);
        assertSucceeds(imported(source, target));

        Eventually.holds(() -> world.broker().mint(world.token(), "spare").status() == 200);
        assertEquals(403, world.broker().mint(world.token(), "deploy").status());
        assertEquals(target.database().column(ROWS), source.database().column(ROWS));
        assertFalse(world.broker().keys(world.token()).toString().contains("TENANT_MOVED"));
        world.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci',"
                        + " 'ci:late', 'api')");
        assertFalse(source.assertVerifies(target).contains("which moved to"));
        assertTrue(target.assertVerifies(source).contains("which moved to"));
    }
}
