package io.mintmark.admin.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;
import io.mintmark.provider.types.CredentialTypes;
import io.mintmark.provider.webhook.WebhookStandIn;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import picocli.CommandLine;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

class BlockSubjectTest {
    /** For locks, and for the ends of credentials. */
    private static Duration lockTimeout = Eventually.PATIENCE;

    private static Duration endTimeout = Eventually.PATIENCE;

    @TempDir static Path secrets;

    @AutoClose private static World world;

    private record Printed(int status, String text) {
        String line(String part) {
            return text.lines()
                    .filter(line -> line.contains(part))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(text));
        }
    }

    @BeforeAll
    static void start() throws IOException {
        world = new World(Map.of("SECRETS_DIR", secrets.toString()));
        Files.createDirectory(secrets.resolve("acme"));
        Files.writeString(secrets.resolve("acme/ca"), Ca.of("Ed25519", Duration.ofDays(1)).key());
        world.admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                UPDATE broker.key SET settings = settings || '{"session_name": "ci-{mint_id}"}'
                 WHERE name = 'deploy';
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                VALUES ('acme', 'ci', 'ci:**', 'glob', 'deploy');
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'hosts', 'hosts', 600, '{"principals": ["deploy"]}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', 'ci:gone', unnest('{hosts,api}'::text[]);
                """);
        Eventually.holds(() -> world.broker().keys(token("ci:x")).status() == 200);
        for (String seen : List.of("ci:again", "ci:own")) {
            assertEquals(200, mint(seen, "deploy").status());
        }
    }

    @AfterEach
    void lift() {
        lockTimeout = Eventually.PATIENCE;
        endTimeout = Eventually.PATIENCE;
        world.admin("DELETE FROM broker.blocked_subject");
    }

    private static String token(String subject) {
        return world.issuer().sign(subject, World.AUDIENCE);
    }

    private static Answer mint(String subject, String... keys) {
        return world.broker().mint(token(subject), keys);
    }

    private static Printed run(Who who, String... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        int status =
                new CommandLine(
                                new BlockSubject(
                                        CredentialTypes.byName(),
                                        () -> world.database().login(who),
                                        lockTimeout,
                                        endTimeout,
                                        out))
                        .setErr(new PrintWriter(bytes, true, StandardCharsets.UTF_8))
                        .setExecutionExceptionHandler((failure, _, _) -> {
                            out.println(failure.getMessage());
                            return 1;
                        })
                        .execute(arguments);
        return new Printed(status, bytes.toString(StandardCharsets.UTF_8));
    }

    private static Printed block(Who who, String where, String subject, String... more) {
        return run(
                who,
                Stream.concat(
                                Stream.of(where.split(" ")),
                                Stream.concat(
                                        Stream.of("--subject", subject, "--reason", "INC-7"),
                                        Stream.of(more)))
                        .toArray(String[]::new));
    }

    private static List<String> mints(String subject, String key) {
        return world.database()
                .column(
                        "SELECT mint_id FROM audit.event WHERE kind = 'issued' AND subject = '%s' AND key = '%s' ORDER BY 1"
                                .formatted(subject, key));
    }

    @Test
    void it_blocks_and_says_what_lives_until_when_and_what_ends_it() {
        assertEquals(200, mint("ci:main", "deploy", "api").status());
        Printed printed = block(Who.ADMIN, "--tenant acme", "ci:main");
        assertEquals(0, printed.status(), printed.text());
        assertEquals(403, mint("ci:main", "api").status());
        String role = mints("ci:main", "deploy").getFirst();
        String api = mints("ci:main", "api").getFirst();
        assertTrue(printed.line(role).contains("acme"), printed.text());
        assertTrue(printed.line("Blocked: ").contains("subject ci:main in tenant acme"));
        assertTrue(
                printed.line("put-role-policy")
                        .contains("--role-name deploy --policy-name mintmark-block-"));
        assertTrue(printed.line("put-role-policy").contains("[\"*:ci-" + role + "\"]"));
        assertTrue(printed.line("jti").endsWith(api), printed.text());
        assertTrue(printed.line("aws-sts, role " + World.ROLE).contains(", until 20"));
    }

    @Test
    void it_can_be_run_again() {
        Printed first =
                block(Who.ADMIN, "--tenant acme", "again", "--until", "2100-01-01T00:00:00Z");
        Printed second =
                block(Who.ADMIN, "--tenant acme", "again", "--until", "2100-01-01T00:00:00Z");
        assertTrue(first.text().contains("until 2100-01-01T00:00:00Z"), first.text());
        assertTrue(first.text().contains("has no active credential"), first.text());
        assertTrue(second.text().startsWith("Blocked already: "), second.text());
        assertTrue(
                second.line("The block was written by ")
                        .matches(
                                "The block was written by"
                                        + " test_admin at 20.*Z\\. Its reason: INC-7\\."));
        assertEquals(
                List.of("1"),
                world.database().column("SELECT count(*) FROM broker.blocked_subject"));
    }

    @Test
    void a_block_becomes_longer_and_never_shorter() {
        assertTrue(again("--until", "PT1H").startsWith("Blocked: "));
        assertTrue(again("--until", "PT2H").startsWith("Blocked for longer: "));
        String shorter = again("--until", "PT1H");
        assertTrue(shorter.startsWith("Blocked already: "), shorter);
        assertTrue(shorter.contains("never shortens a block"), shorter);
        assertTrue(again().startsWith("Blocked for longer: "));
        String last = again("--until", "P7D");
        assertTrue(last.contains("until it is lifted"), last);
        assertEquals(
                List.of("infinity INC-7"),
                world.database()
                        .column(
                                "SELECT coalesce(until, 'infinity') || ' ' || reason FROM"
                                        + " broker.blocked_subject"));
    }

    private static String again(String... until) {
        Printed printed = block(Who.TENANT_ADMIN, "--tenant acme", "ci:again", until);
        assertEquals(0, printed.status(), printed.text());
        return printed.text();
    }

    @Test
    void what_it_prints_to_lift_it_lifts_it_however_often_it_was_run() {
        again();
        String printed = again();
        assertEquals(403, mint("ci:again", "deploy").status());
        world.admin(printed.substring(printed.indexOf("UPDATE"), printed.indexOf(';')));
        Eventually.holds(() -> mint("ci:again", "deploy").status() == 200);
        assertTrue(again().startsWith("Blocked: "));
        assertEquals(403, mint("ci:again", "deploy").status());
    }

    @Test
    void a_block_that_ended_is_in_force_again() {
        again("--until", "PT1H");
        world.admin("UPDATE broker.blocked_subject SET until = now() - interval '1 second'");
        Eventually.holds(() -> mint("ci:again", "deploy").status() == 200);
        assertTrue(again("--until", "PT1H").startsWith("Blocked: "));
        assertEquals(403, mint("ci:again", "deploy").status());
    }

    @Test
    void blocks_that_stay_when_it_is_lifted_are_told_as_far_as_one_may_see_them() {
        world.admin(
                """
                INSERT INTO broker.blocked_subject (tenant, subject, match, reason)
                VALUES ('acme', 'ci:ag*', 'glob', 'x'), (NULL, 'ci:again', 'exact', 'x'),
                       (NULL, 'ci:other', 'exact', 'x')
                """);
        String own = again();
        assertTrue(own.contains("\"ci:ag*\" as a glob in tenant acme"), own);
        assertTrue(own.contains("other blocks"), own);
        assertTrue(own.contains("one of a platform admin's for all tenants"), own);
        String all = block(Who.ADMIN, "--tenant acme", "ci:again").text();
        assertTrue(all.contains("\"ci:again\" in all tenants"), all);
        assertFalse(all.contains("one of a platform admin's"), all);
        assertFalse(all.contains("ci:other"), all);
        world.admin("DELETE FROM broker.blocked_subject");
        assertFalse(again().contains("other blocks"));
    }

    @Test
    void a_glob_blocks_and_lists_all_that_it_matches_and_no_others() {
        assertEquals(200, mint("ci:one", "deploy").status());
        assertEquals(200, mint("ci:two", "deploy").status());
        assertEquals(200, mint("ci:two/deep", "deploy").status());
        Printed printed =
                block(Who.ADMIN, "--all-tenants", "ci:*o*", "--match", "glob", "--until", "PT1H");
        assertEquals(0, printed.status(), printed.text());
        for (String subject : List.of("ci:one", "ci:two")) {
            assertTrue(printed.text().contains(mints(subject, "deploy").getFirst()));
            assertEquals(403, mint(subject, "deploy").status());
        }
        assertFalse(printed.text().contains(mints("ci:two/deep", "deploy").getFirst()));
        assertEquals(200, mint("ci:two/deep", "deploy").status());
        assertEquals(
                List.of("t"),
                world.database()
                        .column(
                                "SELECT tenant IS NULL AND until - created_at BETWEEN '59 minutes'"
                                        + " AND '61 minutes' FROM broker.blocked_subject"));
    }

    @Test
    void a_tenant_admin_blocks_in_its_tenant_alone() {
        Printed own = block(Who.TENANT_ADMIN, "--tenant acme", "ci:own", "--idp", "ci");
        assertEquals(0, own.status(), own.text());
        Printed all = block(Who.TENANT_ADMIN, "--all-tenants", "ci:own");
        assertEquals(1, all.status());
        assertTrue(all.text().contains("cannot write a row without a tenant"), all.text());
    }

    @Test
    void whose_edit_it_waits_for_in_vain_is_told() throws SQLException {
        try (Connection open = world.database().connect(Who.ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("UPDATE broker.tenant SET display_name = 'x' WHERE name = 'acme'");
            lockTimeout = Duration.ofSeconds(2);
            Printed printed = block(Who.ADMIN, "--tenant acme", "ci:held");
            assertEquals(1, printed.status());
            assertTrue(printed.text().startsWith("nothing was blocked, because "), printed.text());
            assertTrue(printed.text().contains("didn't end within 2 seconds"), printed.text());
            open.rollback();
        }
        assertEquals(
                List.of("0"),
                world.database().column("SELECT count(*) FROM broker.blocked_subject"));
    }

    @Test
    void an_end_that_is_past_is_refused_and_nothing_is_blocked() {
        for (String past : List.of("2026-01-01T00:00:00Z", "PT-1H", "PT0S")) {
            Printed printed = block(Who.ADMIN, "--tenant acme", "ci:past", "--until", past);
            assertEquals(1, printed.status(), printed.text());
            assertTrue(printed.text().contains("is in the past"), printed.text());
        }
        assertEquals(
                List.of("0"),
                world.database()
                        .column(
                                "SELECT count(*) FROM broker.blocked_subject WHERE subject ="
                                        + " 'ci:past'"));
    }

    @Test
    void lint_warnings_are_printed_with_their_advice() {
        Printed printed = block(Who.ADMIN, "--tenant acme", "repo:acme/*");
        assertEquals(BlockSubject.UNSEEN, printed.status(), printed.text());
        assertTrue(
                printed.text()
                        .contains(
                                "Warning: Block of \"repo:acme/*\": With match exact, \"*\" in"
                                        + " subject is literal."),
                printed.text());
        assertFalse(block(Who.ADMIN, "--tenant acme", "ci:main").text().contains("Warning"));
    }

    @Test
    void one_form_of_githubs_subjects_is_refused_with_the_commands_for_both() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims)
                VALUES ('hub', 'acme', 'https://token.actions.githubusercontent.com', '{hub}', '{"repository_owner_id": "7"}')
                """);
        try {
            Printed refused =
                    block(Who.ADMIN, "--tenant acme", "repo:acme/shop:**", "--match", "glob");
            assertEquals(1, refused.status(), refused.text());
            refused.line("Nothing was blocked: \"repo:acme/shop:**\" has no ids");
            refused.line("--tenant acme --match glob --subject 'repo:acme@*/shop@*:**'");
            refused.line("--tenant acme --match glob --subject 'repo:acme/shop:**'");
            world.database().assertRows("SELECT subject FROM broker.blocked_subject");
            for (String form : List.of("repo:acme@*/shop@*:**", "repo:acme/shop:**")) {
                block(Who.ADMIN, "--tenant acme", form, "--match", "glob")
                        .line("Blocked: subjects like " + form);
            }
        } finally {
            world.admin("DELETE FROM broker.identity_provider WHERE name = 'hub'");
        }
    }

    @Test
    void a_subject_that_was_never_seen_is_blocked_with_exit_code_4_and_the_nearest_known() {
        assertEquals(200, mint("ci:release", "deploy").status());
        for (String where : List.of("--tenant acme", "--all-tenants")) {
            Printed printed = block(Who.ADMIN, where, "cl:release");
            assertEquals(BlockSubject.UNSEEN, printed.status(), printed.text());
            assertTrue(printed.text().startsWith("Blocked: subject cl:release"), printed.text());
            assertTrue(
                    printed.line("names this subject")
                            .endsWith(
                                    "no grant and no log row names this subject. It is blocked"
                                            + " anyway; check the spelling. Did you mean ci:release?"),
                    printed.text());
            assertFalse(printed.text().contains("block_matches_nothing"), printed.text());
        }
    }

    @Test
    void a_misspelt_subject_that_only_a_glob_matches_is_unknown() {
        world.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason)"
                        + " VALUES ('acme', 'ci', 'nightly:**', 'glob', 'spare', 'OPS-1')");
        assertEquals(200, mint("nightly:main", "spare").status());
        Printed typo = block(Who.TENANT_ADMIN, "--tenant acme", "nightly:mian");
        assertEquals(BlockSubject.UNSEEN, typo.status(), typo.text());
        assertTrue(typo.text().contains("Did you mean nightly:main?"), typo.text());
        Printed known = block(Who.TENANT_ADMIN, "--tenant acme", "nightly:main");
        assertEquals(0, known.status(), known.text());
    }

    @Test
    void a_subject_of_the_log_alone_is_known() {
        assertEquals(403, mint("visitor:1", "deploy").status());
        Printed printed = block(Who.TENANT_ADMIN, "--tenant acme", "visitor:1");
        assertEquals(0, printed.status(), printed.text());
        assertEquals(BlockSubject.UNSEEN, block(Who.ADMIN, "--tenant acme", "visitor:2").status());
    }

    @Test
    void by_claims_it_stops_tokens_of_every_subject_that_have_them() {
        Printed printed =
                run(
                        Who.TENANT_ADMIN,
                        "--tenant=acme",
                        "--claim=repository_id=7654321",
                        "--claim=env=prod",
                        "--claim=env=stage-*",
                        "--reason=INC-9");
        assertEquals(0, printed.status(), printed.text());
        assertTrue(
                printed.text().startsWith("Blocked: subjects like ** with claims "), printed::text);
        assertEquals(
                List.of(
                        "**|glob|{\"env\": [\"prod\", {\"glob\": \"stage-*\"}], \"repository_id\": \"7654321\"}"),
                world.database()
                        .column(
                                "SELECT concat_ws('|', subject, match, claims) FROM broker.blocked_subject WHERE reason = 'INC-9'"));
        assertEquals(200, mint("ci:other", "deploy").status());
    }

    @Test
    void what_is_wrong_is_told_in_a_sentence() {
        assertEquals(2, run(Who.ADMIN, "--subject", "x", "--reason", "y").status());
        assertEquals(2, run(Who.ADMIN, "--tenant", "acme", "--subject", "x").status());
        assertTrue(
                block(Who.ADMIN, "--tenant acme", "x", "--until", "tomorrow")
                        .text()
                        .contains("'tomorrow' is neither a time"));
        assertTrue(
                block(Who.ADMIN, "--tenant acme", "**", "--match", "glob")
                        .text()
                        .contains("does not start with a literal segment"));
        assertTrue(
                run(Who.ADMIN, "--tenant", "acme", "--reason", "y")
                        .text()
                        .contains("give --subject, or --claim, or both. Nothing was blocked"));
        assertTrue(
                block(Who.ADMIN, "--tenant acme", "x", "--claim", "repository_id")
                        .text()
                        .contains("'repository_id' isn't NAME=VALUE"));
        assertTrue(
                block(Who.AUDITOR, "--tenant acme", "x")
                        .text()
                        .contains("permission denied for table blocked_subject"));
    }

    @Test
    void with_end_it_says_that_nothing_ends_if_the_broker_cannot_end_these_types() {
        assertEquals(200, mint("ci:cloud", "deploy").status());
        String none = "The broker can't end credentials of these types";
        assertFalse(block(Who.TENANT_ADMIN, "--tenant acme", "ci:cloud").text().contains(none));
        Printed printed = block(Who.TENANT_ADMIN, "--tenant acme", "ci:cloud", "--end");
        assertTrue(printed.text().contains(none), printed.text());
    }

    @Test
    void with_end_it_ends_what_servers_can_refuse_and_says_what() {
        assertEquals(200, mint("ci:gone", "hosts", "api").status());
        Printed without = block(Who.TENANT_ADMIN, "--tenant acme", "ci:gone");
        assertFalse(without.text().contains("Ended"), without.text());
        assertTrue(without.text().contains("Run this command again with --end"), without.text());
        Printed printed = block(Who.TENANT_ADMIN, "--tenant acme", "ci:gone", "--end");
        String ended = mints("ci:gone", "hosts").getFirst();
        assertTrue(
                printed.text().contains("Revoked: 1 certificates. The revocation list"),
                printed.text());
        assertTrue(printed.line("  ssh " + ended).endsWith(ended), printed.text());
        assertFalse(
                printed.text().contains("  jwt " + mints("ci:gone", "api").getFirst()),
                printed.text());
        assertEquals(
                printed.text().lines().skip(3).toList(),
                block(Who.TENANT_ADMIN, "--tenant acme", "ci:gone", "--end")
                        .text()
                        .lines()
                        .skip(3)
                        .toList());
        assertEquals(
                List.of(ended + " INC-7 test_tenant_admin"),
                world.database()
                        .column(
                                "SELECT concat_ws(' ', mint_id, reason, created_by)"
                                        + " FROM broker.ended_credential WHERE mint_id = '"
                                        + ended
                                        + "'"));
    }

    @Test
    void what_a_service_made_is_ended_by_the_broker_or_the_command_says_why_not() {
        try (WebhookStandIn service =
                new WebhookStandIn(
                        world.broker().url().toString(),
                        () -> world.broker().get("/.well-known/jwks.json").response().body())) {
            world.admin(
                    """
                    INSERT INTO broker.access_provider (tenant, name, type, settings)
                    VALUES ('acme', 'apps', 'webhook', '{"endpoint": "%s", "fields": ["APP_PASSWORD"]}');
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    VALUES ('acme', 'app', 'apps', 600, '{"target": "a"}');
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                    VALUES ('acme', 'ci', 'ci:app', 'app'), ('acme', 'ci', 'ci:late', 'app');
                    """
                            .formatted(service.url()));
            Eventually.holds(() -> mint("ci:app", "app").status() == 200);
            Printed printed = block(Who.TENANT_ADMIN, "--tenant acme", "ci:app", "--end");
            String mint = mints("ci:app", "app").getFirst();
            assertTrue(
                    printed.text().contains("Ended at their providers, 1 of 1:"), printed.text());
            assertTrue(
                    printed.line("  webhook " + mint).matches(".* ended \\d\\d:\\d\\d:\\d\\d"),
                    printed.text());
            assertFalse(printed.text().contains("its operator ends"), printed.text());
            assertEquals(Set.of(), service.live());
            assertEquals(200, mint("ci:late", "app").status());
        }
        endTimeout = Duration.ofSeconds(5);
        Printed printed = block(Who.TENANT_ADMIN, "--tenant acme", "ci:late", "--end");
        String mint = mints("ci:late", "app").getFirst();
        assertTrue(printed.text().contains("Ended at their providers, 0 of 1:"), printed.text());
        assertTrue(
                printed.line("  webhook " + mint).contains("not yet: provider_unreachable: "),
                printed.text());
        assertTrue(printed.line("its operator ends these mint ids").endsWith(mint), printed.text());
    }
}
