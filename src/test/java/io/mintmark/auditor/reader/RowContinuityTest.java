package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.auditor.explain.RandomEdits;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The owner of the database changes a row without a record, and an admin edits the row later. The
 * command and the script name that edit, and no other, from the database and from an export.
 */
class RowContinuityTest {
    private static final Pattern NAMED =
            Pattern.compile(
                    "hange ([0-9]+) (of tenant ([a-z]+)|[(]no tenant[)]|of the tables without"
                            + " tenant) .*without a recorded change");
    private static final String ANYTHING = " = md5(random()::text)";

    /** A row of a broker's table, and how it is raised, restored and edited. */
    private enum Target {
        GRANT("subject_grant", "key = 'api'", "subject = '**'", "subject = 'ci:main'", "reason"),
        KEY("key", "name = 'api'", "max_duration = 43000", "max_duration = 600", "description"),
        BLOCK("blocked_subject", "subject = 'x'", "enabled = false", "enabled = true", "reason"),
        TENANT(
                "tenant",
                "name = 'acme'",
                "max_duration = NULL",
                "max_duration = 43100",
                "display_name"),
        OF_ALL_TENANTS(
                "blocked_subject", "subject = 'y'", "until = now()", "until = NULL", "reason");

        private final String table;
        private final String where;
        private final String raised;
        private final String restored;
        private final String edited;

        Target(String table, String where, String raised, String restored, String edited) {
            this.table = table;
            this.where = where;
            this.raised = raised;
            this.restored = restored;
            this.edited = edited;
        }

        private String update(String assignment) {
            return "UPDATE broker.%s SET %s WHERE %s".formatted(table, assignment, where);
        }

        private String edit() {
            return update(edited + ANYTHING);
        }
    }

    /** What the owner does past the history, before an admin's edit that the log records. */
    private enum Deed {
        NOTHING,
        RAISED,
        RAISED_AND_RESTORED,
        INSERTED,
        DELETED_AND_INSERTED_AGAIN
    }

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Set<String> expected = new TreeSet<>();

    @BeforeEach
    void configure() {
        database.admin(World.tenant("https://ci.example.com", "https://sts.example.com"));
        database.admin(
                """
                INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', 'a test'), (NULL, 'y', 'a test');
                UPDATE broker.tenant SET max_duration = 43100 WHERE name = 'acme';
                """);
        Seals.seal(database);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void each_edit_of_a_row_that_was_changed_past_the_history_is_named(long seed) throws Exception {
        Random random = new Random(seed);
        for (int i = 0; i < 60; i++) {
            Deed deed = Deed.values()[random.nextInt(Deed.values().length)];
            Target target = Target.values()[random.nextInt(Target.values().length)];
            String table = deed.compareTo(Deed.INSERTED) < 0 ? target.table : "key";
            run(deed, target, "k" + i);
            if (deed != Deed.NOTHING && deed != Deed.RAISED_AND_RESTORED) {
                expected.add(lastChange(table));
            }
        }
        Seals.seal(database);

        assertNamed();
    }

    private void run(Deed deed, Target target, String key) {
        switch (deed) {
            case NOTHING -> database.admin(target.edit());
            case RAISED -> {
                database.admin(target.update(target.restored));
                past(target.table, target.update(target.raised));
                database.admin(target.edit());
            }
            case RAISED_AND_RESTORED -> {
                database.admin(target.update(target.restored));
                past(target.table, target.update(target.raised));
                past(target.table, target.update(target.restored));
                database.admin(target.edit());
            }
            case INSERTED -> {
                past("key", insert(key));
                database.admin("DELETE FROM broker.key WHERE name = '%s'".formatted(key));
            }
            case DELETED_AND_INSERTED_AGAIN -> {
                database.admin(insert(key));
                past("key", "DELETE FROM broker.key WHERE name = '%s'".formatted(key));
                database.admin(insert(key));
            }
        }
    }

    private static String insert(String key) {
        return """
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
        VALUES ('acme', '%s', 'own', 600, '{"audience": "https://%s.example.com"}')\
        """
                .formatted(key, key);
    }

    private void past(String table, String sql) {
        database.runAsSuperuser("BEGIN;" + PastTheHistory.past(table, sql) + ";COMMIT");
    }

    private String lastChange(String table) {
        return database.value(
                """
                SELECT c.revision || coalesce(' of tenant ' || c.tenant, '') FROM audit.config_change AS c
                 WHERE c.table_name = '%s' ORDER BY c.changed_at DESC LIMIT 1
                """
                        .formatted(table));
    }

    private void assertNamed() throws Exception {
        Path log = directory.resolve("log.jsonl");
        assertEquals(expected, named(Seals.wrong(database).stream()));
        assertEquals(
                expected,
                named(Seals.foundInExport(database, log, List.of(Seals.KEY)).wrong.stream()));
        Script script = new Script(directory, database);
        for (List<String> arguments :
                List.of(List.<String>of(), List.of("--export", log.toString()))) {
            assertEquals(expected.isEmpty() ? 0 : 1, script.status(arguments), script::output);
            assertEquals(expected, named(script.output().lines()));
        }
    }

    private static Set<String> named(Stream<String> sentences) {
        return sentences
                .flatMap(sentence -> NAMED.matcher(sentence).results())
                .map(change ->
                        change.group(1)
                                + (change.group(3) == null ? "" : " of tenant " + change.group(3)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void edits_by_the_rules_leave_a_continuous_history() throws Exception {
        RandomEdits.setUp(database);
        try (var editors = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int seed = 0; seed < 2; seed++) {
                editors.execute(new RandomEdits(database, seed, 40, RandomEdits.commits()));
            }
        }
        Seals.seal(database);

        assertNamed();
    }

    @Test
    void the_same_columns_identify_a_row_in_the_command_the_script_and_the_schema()
            throws Exception {
        List<String> tables =
                database.column(
                        Who.OWNER,
                        "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname ="
                                + " 'record_change'");
        Map<String, List<String>> keys = new TreeMap<>();
        for (String table : tables) {
            keys.put(
                    table.replace("broker.", ""),
                    database.column(
                            Who.OWNER,
                            """
                            SELECT a.attname FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                             WHERE i.indrelid = '%s'::regclass AND i.indisprimary AND a.attname <> 'tenant'
                            """
                                    .formatted(table)));
        }
        keys.put("role_member", List.of("role_name", "member"));

        assertEquals(keys, new TreeMap<>(RowContinuity.IDENTITIES));
        keys.forEach((table, columns) ->
                assertTrue(
                        inScript(
                                "\"%s\": [%s]"
                                        .formatted(
                                                table,
                                                columns.stream()
                                                        .map("\"%s\""::formatted)
                                                        .collect(Collectors.joining(", ")))),
                        table));
    }

    private static boolean inScript(String text) {
        return Unchecked.call(() -> Files.readString(Path.of("docs/verify.py")).contains(text));
    }
}
