package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The pages of docs/ci, with the token that each of them shows: the issuer's keys are the test's,
 * and AWS is a stand-in. All else is as on the page.
 */
class CiPagesTest {
    private static final Path PAGES = Path.of("docs", "ci");
    private static final String INDEX = "README.md";
    private static final JsonMapper JSON = new JsonMapper();
    private static final Pattern COMMENT = Pattern.compile(" // .*");
    private static final Pattern MEMBER = Pattern.compile(" *\"[^\"]+\": .*");
    private static final Pattern OPENING = Pattern.compile(" *\"[^\"]+\": \\{");
    private static final Pattern LINE_END = Pattern.compile("\\s+");

    private static TestDatabase template;

    @BeforeAll
    static void setUp() {
        template = TestDatabase.migrated();
        Stream.of("onboard_tenant", "provider_aws", "provider_postgresql")
                .forEach(recipe -> template.admin(Documented.recipe(recipe)));
    }

    @AfterAll
    static void close() {
        template.close();
    }

    static Stream<String> pages() throws IOException {
        try (Stream<Path> files = Files.list(PAGES)) {
            return files
                    .map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals(INDEX))
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    /** A page: its token, the statement that trusts its issuer, and those that grant. */
    private record Page(String text, ObjectNode token, String trust, List<String> grants) {
        static Page of(String name) {
            List<String> statements = Documented.blocks("ci/" + name, "sql");
            return new Page(
                    LINE_END.matcher(Unchecked.call(() -> Files.readString(PAGES.resolve(name))))
                            .replaceAll(" "),
                    read(COMMENT.matcher(tokenBlock(name)).replaceAll("")),
                    statements.getFirst(),
                    statements.subList(1, statements.size()));
        }

        String subject() {
            return token.get("sub").asText();
        }

        boolean shows(String message) {
            return text.contains(message);
        }
    }

    private static String tokenBlock(String page) {
        return Documented.blocks("ci/" + page, "jsonc").getFirst();
    }

    private static ObjectNode read(String json) {
        return (ObjectNode) Unchecked.call(() -> JSON.readTree(json));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void each_claim_of_the_token_has_a_comment(String page) {
        tokenBlock(page)
                .lines()
                .filter(line -> MEMBER.matcher(line).matches())
                .filter(line -> !OPENING.matcher(line).matches())
                .forEach(line -> assertTrue(COMMENT.matcher(line).find(), line));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void each_grant_lets_the_token_in_and_needs_each_of_its_claims(String name) {
        Page page = Page.of(name);
        assertFalse(page.grants().isEmpty());
        try (TestDatabase database = template.copy()) {
            database.admin(page.trust());
            String idp = idp(database, page);
            for (String grant : page.grants()) {
                database.admin(grant);
                String key = database.value("SELECT key FROM broker.subject_grant");
                assertTrue(granted(database, idp, page.token(), key), grant);
                JsonNode claims = read(database.value("SELECT claims FROM broker.subject_grant"));
                assertAll(
                        claims.propertyStream()
                                .map(claim ->
                                        () ->
                                                assertFalse(
                                                        granted(
                                                                database,
                                                                idp,
                                                                without(
                                                                        page.token(),
                                                                        claim.getKey()),
                                                                key),
                                                        claim.getKey()
                                                                + " is not needed: "
                                                                + grant)));
                database.column("SELECT rule FROM broker.lint WHERE table_name <> 'tenant_admin'")
                        .forEach(rule -> assertTrue(page.shows("`" + rule + "`"), rule));
                database.admin("DELETE FROM broker.subject_grant");
            }
        }
    }

    /** The identity provider to which issuer and audience of the page's token lead. */
    private static String idp(TestDatabase database, Page page) {
        JsonNode audience = page.token().get("aud");
        return database.value(
                "SELECT name FROM broker.identity_provider WHERE issuer = '%s' AND '%s' = ANY (audiences)"
                        .formatted(
                                page.token().get("iss").asText(),
                                audience.isArray() ? audience.get(0).asText() : audience.asText()));
    }

    private static boolean granted(
            TestDatabase database, String idp, ObjectNode token, String key) {
        return database.value(
                        "SELECT granted FROM broker.explain('%s', '%s', '%s') WHERE key = '%s'"
                                .formatted(idp, token.get("sub").asText(), token, key))
                .equals("t");
    }

    /** A claim's name as grants write it may be a JSON pointer. */
    private static ObjectNode without(ObjectNode token, String claim) {
        ObjectNode less = token.deepCopy();
        if (claim.startsWith("/")) {
            int last = claim.lastIndexOf('/');
            ((ObjectNode) less.at(claim.substring(0, last))).remove(claim.substring(last + 1));
        } else {
            less.remove(claim);
        }
        return less;
    }

    @ParameterizedTest
    @MethodSource("pages")
    void the_token_gets_credentials_and_the_first_failures_are_those_of_the_page(String name) {
        Page page = Page.of(name);
        try (TestDatabase database = template.copy();
                IssuerStandIn issuer = IssuerStandIn.start();
                RunningBroker broker = RunningBroker.on(database);
                StsStandIn aws = StsStandIn.aws(broker.url().toString(), broker::keySet)) {
            database.admin(page.trust());
            database.admin(
                    """
                    UPDATE broker.access_provider SET settings = settings || '{"endpoint": "%s"}' WHERE type = 'aws-sts';
                    UPDATE broker.identity_provider SET jwks_uri = NULL, algorithms = DEFAULT, jwks = '%s';
                    """
                            .formatted(aws.endpoint(), issuer.jwks()));
            String required =
                    database.value("SELECT required_claims FROM broker.identity_provider");

            Eventually.holds(
                    () -> broker.mint(signed(issuer, page.token()), "deploy").status() == 403);
            assertShown(page, 403, broker.mint(signed(issuer, page.token()), "deploy"));
            assertShown(
                    page,
                    401,
                    broker.mint(signed(issuer, page.token().deepCopy().put("aud", "x")), "deploy"));
            read(required)
                    .fieldNames()
                    .forEachRemaining(claim ->
                            assertShown(
                                    page,
                                    401,
                                    broker.mint(
                                            signed(issuer, without(page.token(), claim)),
                                            "deploy")));

            page.grants().forEach(database::admin);
            Eventually.holds(
                    () -> broker.mint(signed(issuer, page.token()), "deploy").status() == 200);
            assertEquals(
                    page.subject(),
                    broker.mint(signed(issuer, page.token()), "deploy").at("/subject"));
        }
    }

    private static void assertShown(Page page, int status, Answer answer) {
        assertEquals(status, answer.status(), answer::toString);
        assertTrue(page.shows(answer.at("/message")), answer::toString);
    }

    /** As the issuer signs it now, for five minutes. */
    private static String signed(IssuerStandIn issuer, ObjectNode token) {
        Map<String, Object> claims =
                new LinkedHashMap<>(JSON.convertValue(token, new TypeReference<>() {}));
        long now = Instant.now().getEpochSecond();
        claims.put("iat", now);
        claims.put("exp", now + 300);
        return issuer.signExactly(claims);
    }

    /** The command of the index that prints a token's claims. */
    @Test
    void the_command_prints_the_claims_of_a_token() throws IOException, InterruptedException {
        Page page = Page.of("github-actions.md");
        try (IssuerStandIn issuer = IssuerStandIn.start()) {
            ProcessBuilder shell =
                    new ProcessBuilder(
                            "sh", "-c", Documented.blocks("ci/" + INDEX, "sh").getFirst());
            shell.environment().put("MINTMARK_TOKEN", signed(issuer, page.token()));
            Process run = shell.start();
            String printed =
                    new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            run.waitFor();
            assertEquals(page.subject(), read(printed).get("sub").asText());
        }
    }

    @Test
    void the_index_names_each_page() throws IOException {
        String index = Files.readString(PAGES.resolve(INDEX));
        pages().forEach(page -> assertTrue(index.contains("(" + page + ")"), page));
    }
}
