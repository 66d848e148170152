package io.mintmark.admin.subject;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.sql.TestServer;
import io.mintmark.broker.catalogue.TypeExamples;
import io.mintmark.endtoend.Documented;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The database accepts what the pages for clients and on providers tell an admin to write. */
class DocumentedBlocksTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path DOCS = Path.of("docs");
    private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *```$");
    private static final Pattern INLINE = Pattern.compile("`(\\{\\s*\"[^`]*\\})`");
    private static final Pattern VARIABLE = Pattern.compile("[A-Z_][A-Z0-9_]*");

    /** Objects for other programs: Google's libraries, and what AWS and MinIO call a statement. */
    private static final Set<String> FOR_OTHERS =
            Set.of("type", "url", "executable", "version", "Effect", "credHelpers");

    @AutoClose private static TestDatabase database;

    /** Its rows have the names of the recipe's, which the pages for clients use. */
    private static final String AWS = "providers/aws-sts.md";

    private static final String WITHOUT_RECIPE =
            """
            DELETE FROM broker.subject_grant WHERE tenant = 'acme' AND key IN ('deploy', 'read');
            DELETE FROM broker.key WHERE tenant = 'acme' AND provider = 'aws';
            DELETE FROM broker.access_provider WHERE tenant = 'acme' AND name = 'aws';
            """;

    /** The pages' example of a request that waits. */
    private static final String ASKED = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

    /** The grant of a request that did not wait. */
    private static String broken = "";

    @BeforeAll
    static void start() {
        database = TestDatabase.migrated();
        database.admin(Documented.recipe("onboard_tenant") + Documented.recipe("provider_aws"));
        database.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'signed', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'orders', 'signed', 600, '{"audience": "https://mcp.example.com"}'),
                       ('acme', 'prod', 'signed', 600, '{"audience": "https://api.example.com"}');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('acme-sso', 'acme', 'https://sso.example.com', '{mintmark}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'orders', 'acme-sso', 'user:**', 'glob', 1, 3600, false);
                INSERT INTO broker.access_approver (rule, role_name)
                SELECT id, 'test_admin' FROM broker.access_rule WHERE approvals = 1;
                """);
        // by another login than the one that signs off
        database.run(
                Who.OWNER,
                """
                SET ROLE mintmark_owner;
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'orders', 'acme-sso', 'user:**', 'glob', 0, 3600, true);
                RESET ROLE;
                """);
        broken =
                database.value(
                        "SELECT grant_id FROM broker.access_request WHERE id = '%s'"
                                .formatted(asks(true)));
        CredentialTypes.byName().keySet().forEach(DocumentedBlocksTest::insertKey);
    }

    /** The id of a request for access, which is granted at once if it breaks the glass. */
    private static String asks(boolean breakGlass) {
        return database.column(
                        Who.APP,
                        """
                        SELECT id FROM internal.request_access('acme', 'acme-sso', 'user:ann', '{}', NULL, NULL, '{orders}',
                               'to mend incident 7', 1800, %s)
                        """
                                .formatted(breakGlass))
                .getFirst();
    }

    /** Access provider {@code of-TYPE} and key {@code key-TYPE}. */
    private static void insertKey(String type) {
        String row =
                database.value(
                        "SELECT to_jsonb(t) FROM broker.provider_type AS t WHERE type = '%s'"
                                .formatted(type));
        JsonNode rules = TypeExamples.json(row);
        database.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'of-%1$s', '%1$s', '%2$s');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'key-%1$s', 'of-%1$s', %4$d, '%3$s');
                """
                        .formatted(
                                type,
                                quoted(TypeExamples.required(rules.path("provider_settings"))),
                                quoted(
                                        TypeExamples.required(
                                                rules.path("key_settings"),
                                                rules.path("target_setting").asText())),
                                Math.max(3600, rules.path("min_duration").asInt())));
    }

    private static String quoted(JsonNode value) {
        return value.toString().replace("'", "''");
    }

    private static List<String> pages() {
        return Unchecked.call(() -> {
            try (Stream<Path> files = Files.walk(DOCS)) {
                return files.map(file -> DOCS.relativize(file).toString())
                        .filter(page -> page.matches("clients[.]md|(clients|providers)/.*[.]md"))
                        .sorted()
                        .toList();
            }
        });
    }

    private interface Check {
        void of(String page, String block) throws Exception;
    }

    private static void each(String language, Check check) {
        List<Executable> checks = new ArrayList<>();
        for (String page : pages()) {
            for (String block : Documented.blocks(page, language)) {
                checks.add(() -> check.of(page, block));
            }
        }
        assertFalse(checks.isEmpty(), language);
        assertAll(checks);
    }

    @Test
    void every_sql_block_for_the_broker_changes_rows() {
        each(
                "sql",
                (page, block) -> {
                    if (isForTheBroker(block)) {
                        changeRows(page, block);
                    }
                });
    }

    private static boolean isForTheBroker(String block) {
        return block.contains("broker.");
    }

    /** A statement that changes nothing shows something that isn't set up. */
    private static void changeRows(String page, String block) throws SQLException {
        try (Connection admin = database.connect(Who.ADMIN);
                Statement statement = admin.createStatement()) {
            if (page.equals(AWS)) {
                statement.execute(WITHOUT_RECIPE);
            }
            // Asked for late: a request is void once another example has changed its key.
            String asked = block.contains(ASKED) ? asks(false) : ASKED;
            // another page inserts the key azure-deploy
            boolean rows =
                    statement.execute(
                            block.replace(ASKED, asked)
                                    .replace("4711", broken)
                                    .replace("name = 'azure-deploy'", "name = 'key-azure'"));
            do {
                assertTrue(rows || statement.getUpdateCount() > 0, page + ": " + block);
                rows = statement.getMoreResults();
            } while (rows || statement.getUpdateCount() >= 0);
        }
    }

    /** In the order of the page's steps, and undone, because roles belong to the whole server. */
    @Test
    void every_other_sql_block_works_on_a_server_that_the_broker_makes_logins_of()
            throws SQLException {
        TestServer.Address server = TestServer.address();
        int run = 0;
        try (Connection superuser =
                        DriverManager.getConnection(
                                database.url(), server.superuser(), server.password());
                Statement statement = superuser.createStatement()) {
            superuser.setAutoCommit(false);
            statement.execute("CREATE TABLE orders (id int)");
            for (String page : pages()) {
                for (String block : Documented.blocks(page, "sql")) {
                    if (!isForTheBroker(block)) {
                        statement.execute(block);
                        run++;
                    }
                }
            }
            superuser.rollback();
        }
        assertTrue(run >= 3, "too few blocks were found");
    }

    @Test
    void every_json_block_is_accepted_as_outputs_or_is_for_another_program() {
        each("json", (page, block) -> check(page, JSON.readTree(block)));
    }

    @Test
    void every_object_in_a_sentence_that_has_variables_is_accepted_as_outputs() throws IOException {
        List<Executable> checks = new ArrayList<>();
        for (String page : pages()) {
            String prose = FENCED.matcher(Files.readString(DOCS.resolve(page))).replaceAll("");
            INLINE.matcher(prose)
                    .results()
                    .map(found -> found.group(1).replace('\n', ' '))
                    .forEach(object ->
                            checks.add(() -> {
                                JsonNode given = JSON.readTree(object);
                                if (isOutputs(given)) {
                                    accept(page, given);
                                }
                            }));
        }
        assertTrue(checks.size() > 5, "too few objects were found");
        assertAll(checks);
    }

    private static void check(String page, JsonNode block) {
        if (isOutputs(block)) {
            accept(page, block);
        } else {
            assertTrue(block.isObject() && FOR_OTHERS.stream().anyMatch(block::has), page + block);
        }
    }

    private static boolean isOutputs(JsonNode block) {
        Iterator<String> names = block.fieldNames();
        return names.hasNext() && VARIABLE.matcher(names.next()).matches();
    }

    /** As a key of the page's type; a page about several types has a field that most have. */
    private static void accept(String page, JsonNode outputs) {
        String name = page.replaceAll(".*/|[.]md", "");
        String type = CredentialTypes.byName().containsKey(name) ? name : "oauth2";
        database.admin(
                "UPDATE broker.key SET outputs = '%s' WHERE name = 'key-%s'"
                        .formatted(quoted(outputs), type));
    }
}
