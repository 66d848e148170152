package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What is known of issuers fits the tokens that their documentation shows. */
@Tag("every-postgres")
class KnownIssuerRowsTest {
    private static final Path TOKENS =
            Path.of("src", "test", "resources", "vectors", "lint", "tokens.jsonl");

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void set_up() {
        database = TestDatabase.migrated();
    }

    @Test
    void each_issuer_has_a_published_token_that_fits() throws IOException {
        List<String> tokens = Files.readAllLines(TOKENS);
        assertAll(
                tokens.stream()
                        .map(token ->
                                () ->
                                        assertEquals(
                                                List.of(name(token) + " t"),
                                                database.column(judged(token)))));
        assertEquals(
                database.column(
                        "SELECT DISTINCT name COLLATE \"C\" FROM broker.known_issuer ORDER BY 1"),
                tokens.stream().map(KnownIssuerRowsTest::name).distinct().sorted().toList());
    }

    @Test
    void a_published_token_does_not_contradict_itself() throws IOException {
        for (String token : Files.readAllLines(TOKENS)) {
            database.assertRows(
                    "SELECT x FROM (" + contradicted(token) + ") AS c (x) WHERE x <> ''");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "https://sts.windows.net/72f988bf-86f1-41af-91ab-2d7cd011db47, issuer_sends_no_tokens",
        "https://login.microsoftonline.com/acme.example/v2.0, issuer_sends_no_tokens",
        "https://oidc.circleci.com, issuer_sends_no_tokens",
        "https://oidc.circleci.com/org/acme, issuer_sends_no_tokens",
        "https://github.com/acme, issuer_sends_no_tokens",
        "https://dev.azure.com/acme, issuer_sends_no_tokens",
        "https://bitbucket.org/acme, issuer_sends_no_tokens",
        "https://oidc.fly.io, issuer_sends_no_tokens",
        "https://acme.cloudflareaccess.com/cdn-cgi/access, issuer_sends_no_tokens",
        "https://spacelift.io, issuer_sends_no_tokens",
        "https://login.app.env0.com, issuer_sends_no_tokens",
        "https://g.codefresh.io, issuer_sends_no_tokens",
        "https://oidc.eks.eu-central-1.amazonaws.com/id/0f0f, issuer_sends_no_tokens",
        "https://eu.oic.prod-aks.azure.com/a/b, issuer_sends_no_tokens"
    })
    void an_issuer_that_sends_no_tokens_is_warned_of(String issuer, String rule) {
        database.assertRows(
                """
                SELECT DISTINCT l.rule FROM internal.lint_identity_provider(
                       jsonb_populate_record(NULL::broker.identity_provider, '{"name": "new", "tenant": "acme", "issuer": "%s",
                           "audiences": ["acme"], "required_claims": {}, "accepts": ["subject"], "algorithms": ["RS256"]}'), '{}') AS l
                 WHERE l.rule LIKE 'issuer_sends%%'
                """
                        .formatted(issuer),
                rule);
    }

    private static String name(String token) {
        return token.replaceFirst("^\\{\"name\": \"([^\"]*)\".*", "$1");
    }

    /** The issuer's name, whether the subject has one of its forms, and what lint finds. */
    private static String judged(String token) {
        return """
        SELECT concat_ws(' ', k.name, t.token ->> 'sub' ~ internal.pattern_of(k.subject_forms),
               (SELECT string_agg(concat_ws(' ', l.rule, l.detail), '; ') FROM internal.lint_claims(t.token -> 'claims', k) AS l),
               (SELECT string_agg(m ->> 'advice', '; ') FROM jsonb_array_elements(k.mistakes) AS m
                 WHERE m ->> 'in' = 'issuer' AND t.token ->> 'iss' ~ (m ->> 'form')
                    OR m ->> 'in' = 'subject' AND m ->> 'match' IS DISTINCT FROM 'exact' AND t.token ->> 'sub' ~ (m ->> 'form')))
          FROM (VALUES ('%s'::jsonb)) AS t (token) LEFT JOIN internal.known_issuer(t.token ->> 'iss') AS k ON true
        """
                .formatted(token);
    }

    private static String contradicted(String token) {
        return """
        SELECT string_agg(c.claim, ', ') FROM (VALUES ('%s'::jsonb)) AS t (token)
         CROSS JOIN internal.known_issuer(t.token ->> 'iss') AS k
         CROSS JOIN LATERAL (SELECT * FROM internal.claims_in_subject(k.subject_claims, t.token ->> 'sub')
                             UNION SELECT * FROM internal.claims_in_subject(k.subject_claims, t.token ->> 'iss')) AS c
         WHERE t.token -> 'claims' ? c.claim AND t.token -> 'claims' ->> c.claim <> c.value
        """
                .formatted(token);
    }
}
