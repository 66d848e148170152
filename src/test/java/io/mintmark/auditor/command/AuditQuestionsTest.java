package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.World;
import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What docs/audit/questions.md asks is answered as it says, on a log that has an answer to each.
 */
class AuditQuestionsTest {
    private static final Pattern QUERY =
            Pattern.compile("```sql\n(.*?)```\n\n```\n(.*?)\n", Pattern.DOTALL);
    private static final Pattern COMMAND =
            Pattern.compile("^mintmark audit (.*)$", Pattern.MULTILINE);

    @TempDir private static Path directory;
    @AutoClose private static World world;

    @BeforeAll
    static void mintThings() throws Exception {
        Path key = AuditCommand.signingKey(directory);
        world = new World(Map.of("AUDIT_SIGNING_KEY_FILE", key.toString()));
        world.broker().mint(world.token(), "api");
        world.broker().mint(world.token(), "deploy");
        world.broker().mint(world.token(), "spare");
        world.broker().mint(world.issuer().sign("ci:stranger", World.AUDIENCE), "api");
        world.sts().next(new StsAnswer.Refusing(403, "AccessDenied", "not this role"));
        world.broker().mint(world.token(), "deploy");
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES ('acme', 'ci', 'ci:idle', 'api', 'ticket 7');
                """);
        askForAccess();
        world.database()
                .rewrite(
                        "subject_grant",
                        "created_at = created_at - interval '91 days' WHERE subject = 'ci:idle'");
        AuditRows.append(
                world.database(),
                "gone/1",
                new GrantedMints(world.database())
                        .of(AuditRows.mint("ci:main", "{}").subList(0, 1)));
        Seals.seal(world.database());
        Files.writeString(
                directory.resolve("kept.jsonl"), Seals.seal(world.database()).line() + "\n");
    }

    private static void askForAccess() {
        world.admin(
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, max_access)
                VALUES ('acme', 'deploy', 'ci', 'ci:main', 1, 3600);
                INSERT INTO broker.access_approver (rule, role_name)
                SELECT id, 'test_admin' FROM broker.access_rule;
                """);
        String request =
                world.database()
                        .column(
                                Who.APP,
                                """
                                SELECT id FROM internal.request_access('acme', 'ci', 'ci:main', '{}', NULL, NULL,
                                       '{deploy}', 'to mend incident 7', 1800, false)
                                """)
                        .getFirst();
        world.admin(
                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                        .formatted(request));
    }

    /** The page as it would be if it had been written today, about this log. */
    private static String page() throws Exception {
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        String issued = " FROM audit.mint WHERE outcome = 'issued' AND key = 'deploy'";
        return Files.readString(Path.of("docs/audit/questions.md"))
                .replace("2026-11-23", today.plusDays(1).toString())
                .replace("2026-11-22", today.toString())
                .replaceAll(
                        "01a[0-9a-f]{5}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(?='|\n)",
                        world.value("SELECT mint_id" + issued))
                .replaceAll("ASIA[0-9A-Z]+(?='|\n)", world.value("SELECT credential_id" + issued));
    }

    static Stream<MatchResult> queries() throws Exception {
        return QUERY.matcher(page()).results().toList().stream();
    }

    static Stream<String> commands() throws Exception {
        return COMMAND.matcher(page()).results().map(found -> found.group(1)).toList().stream();
    }

    @ParameterizedTest
    @MethodSource("queries")
    void each_query_has_an_answer_with_the_columns_that_the_page_shows(MatchResult query)
            throws Exception {
        try (Connection auditor = world.database().connect(Who.AUDITOR);
                Statement statement = auditor.createStatement();
                ResultSet rows = statement.executeQuery(query.group(1))) {
            assertTrue(rows.next(), query.group(1));
            List<String> columns = new ArrayList<>();
            for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                columns.add(rows.getMetaData().getColumnLabel(i));
            }
            assertEquals(
                    columns,
                    Arrays.stream(query.group(2).split("\\|")).map(String::strip).toList());
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void each_command_has_an_answer(String command) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(command.split(" ")));
        arguments.replaceAll(
                word -> word.equals("kept.jsonl") ? directory.resolve(word).toString() : word);
        int keys = arguments.indexOf("--keys");
        if (keys >= 0) {
            arguments.subList(keys, keys + 2).clear();
        }
        Ran ran =
                new AuditCommand(world.database(), directory, Who.AUDITOR)
                        .run(arguments.toArray(String[]::new));
        assertFalse(ran.output().isBlank(), ran.errors());
        assertEquals(0, ran.status(), ran.output());
    }
}
