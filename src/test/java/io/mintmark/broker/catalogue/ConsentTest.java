package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Objects;

/** Rules of consent: what an agent asks for, its person alone decides, by a fresh token. */
class ConsentTest {
    private static final String A_RULE_OF_CONSENT =
            """
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
            VALUES ('agents', 'acme', 'https://agents.example.com', '{mintmark}', '{actor,approver}');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner)
            VALUES ('acme', 'mail', 'own', 600, '{"audience": "https://mail.example.com"}', 'team');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, max_access, consent)
            VALUES ('acme', 'mail', 'sso', 'dev:**', 'glob', '{"groups": "dev"}', 3600, true)
            """;

    @AutoClose
    private final TestDatabase database =
            TestDatabase.filled(AskedAccess.TENANT, A_RULE_OF_CONSENT);

    private final AskedAccess asked = new AskedAccess(database);

    /** A column of what the agent gets that asks for a developer. */
    private String requests(String actorIdp, String actor, String column) {
        return asked.one(
                """
                SELECT %s FROM internal.request_access('acme', 'sso', 'dev:eve', '{"groups": ["dev", "all"]}', %s, %s,
                       '{mail}', 'to answer the mail', 600, false)
                """
                        .formatted(column, quoted(actorIdp), quoted(actor)));
    }

    private static String quoted(String text) {
        return text.isEmpty() ? "NULL" : "'" + text + "'";
    }

    private String pending() {
        return requests("agents", "agent:bot", "id");
    }

    private String decides(String idp, String subject, int age, boolean actor, String request) {
        return asked.one(
                """
                SELECT coalesce(refusal, status)
                  FROM internal.decide_access('acme', '%s', '%s', jsonb_build_object('iat', floor(extract(epoch FROM clock_timestamp())) - %d),
                                              %s, '%s', 'approve', NULL)
                """
                        .formatted(idp, subject, age, actor, request));
    }

    @Test
    void the_subject_consents_for_this_request_and_not_more() {
        String request = pending();
        assertEquals("granted", decides("sso", "dev:eve", 10, false, request));
        database.assertRows(
                """
                SELECT concat_ws('|', subject, actor_idp, actor, key, claims, valid_until - valid_from, approved_by) FROM broker.subject_grant
                """,
                "dev:eve|agents|agent:bot|mail|{\"groups\": \"dev\"}|00:10:00|dev:eve of sso");
        database.assertRows("SELECT token_age BETWEEN 10 AND 60 FROM broker.access_decision", "t");
    }

    @Test
    void explain_says_that_an_actor_can_ask_and_whose_consent_is_awaited() {
        String explain =
                """
                SELECT concat_ws('|', condition, regexp_replace(seen, '[0-9-]{10} [0-9:]{5} UTC', 'TIME'))
                  FROM broker.explain('sso', 'dev:eve', '{"groups": "dev"}'%s) WHERE key = 'mail'
                """;
        String agent = ", 'agents', 'agent:bot', '{}'";
        database.assertRows(
                explain.formatted(agent),
                "a grant|access rule 4 lets the actor request it with the subject's consent");
        database.assertRows(explain.formatted(""), "a grant");
        String request = pending();
        database.assertRows(
                explain.formatted(agent),
                "a grant|request %s awaits the consent of dev:eve until TIME".formatted(request));
        database.assertRows(explain.formatted(""), "a grant");
        decides("sso", "dev:eve", 10, false, request);
        database.assertRows(explain.formatted(agent), "");
    }

    @Test
    void a_token_of_the_same_person_for_the_console_consents_too() {
        assertEquals("granted", decides("console", "dev:eve", 10, false, pending()));
    }

    @ParameterizedTest
    @CsvSource(
            textBlock =
                    """
                    sso,     dev:jim,   10,  false, unknown_request
                    sso,     lead:bob,  10,  false, unknown_request
                    agents,  dev:eve,   10,  false, unknown_request
                    agents,  agent:bot, 10,  false, own_request
                    sso,     dev:eve,   10,  true,  decided_with_actor
                    sso,     dev:eve,   302, false, token_not_fresh
                    console, dev:eve,   302, false, token_not_fresh
                    """)
    void nobody_else_decides_and_no_old_token(
            String idp, String subject, int age, boolean actor, String expected) {
        String request = pending();
        assertEquals(expected, decides(idp, subject, age, actor, request));
        database.assertRows("SELECT status FROM broker.access_request", "pending");
        database.assertRows("SELECT count(*) FROM broker.access_decision", "0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    {}
                    {"iat": null}
                    {"iat": "1"}
                    {"iat": true}
                    {"iat": 0}
                    {"iat": -1}
                    {"iat": 1e300}
                    {"iat": [1]}
                    """)
    void a_token_without_a_time_does_not_consent(String claims) {
        String request = pending();
        assertEquals(
                "token_not_fresh",
                asked.one(
                        "SELECT refusal FROM internal.decide_access('acme', 'sso', 'dev:eve', '%s', false, '%s', 'approve', NULL)"
                                .formatted(claims, request)));
    }

    @Test
    void a_login_does_not_consent_for_its_subject() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'dev:eve')");
        String request = pending();
        IllegalStateException refusal =
                assertThrows(
                        IllegalStateException.class,
                        () ->
                                database.run(
                                        Who.TENANT_ADMIN,
                                        "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                                .formatted(request)));
        assertTrue(
                String.valueOf(Objects.requireNonNull(refusal.getCause()).getMessage())
                        .contains("You are the requester or the actor of this request"));
    }

    @Test
    void without_an_actor_the_rule_is_not_there() {
        assertEquals("no_rule", requests("", "", "refusal"));
        assertEquals(
                "{}",
                asked.one(
                        "SELECT internal.requestable_keys('acme', 'sso', 'dev:eve', '{\"groups\": \"dev\"}', NULL, NULL, '{mail}')"));
        assertEquals(
                "{mail}",
                asked.one(
                        "SELECT internal.requestable_keys('acme', 'sso', 'dev:eve', '{\"groups\": \"dev\"}', 'agents', 'agent:bot', '{mail}')"));
    }

    @Test
    void an_agent_with_the_persons_own_identity_does_not_ask() {
        database.admin(
                "UPDATE broker.identity_provider SET accepts = '{subject,actor}' WHERE name = 'sso'");
        assertEquals("no_rule", requests("sso", "dev:eve", "refusal"));
    }

    @Test
    void the_list_of_decisions_has_it_for_the_person_alone() {
        String request = pending();
        String list =
                "SELECT id FROM internal.access_requests('acme', '%s', '%s', '{}', 'decision', NULL, %s, %s)";
        assertEquals(request, asked.one(list.formatted("sso", "dev:eve", "NULL", "NULL")));
        assertEquals("[]", asked.one(list.formatted("sso", "dev:eve", "'agents'", "'agent:bot'")));
        assertEquals("[]", asked.one(list.formatted("agents", "agent:bot", "NULL", "NULL")));
        assertEquals("[]", asked.one(list.formatted("sso", "lead:bob", "NULL", "NULL")));
    }

    /** A stolen session neither asks nor consents, while the person's other tokens do. */
    @Test
    void a_token_that_a_block_names_by_its_claims_neither_asks_nor_consents() {
        String request = pending();
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, match, reason, claims) VALUES ('acme', '**', 'glob', 'INC-1', '{\"groups\": \"all\"}')");
        assertEquals("blocked", requests("agents", "agent:bot", "refusal"));
        assertEquals(
                "blocked",
                asked.one(
                        """
                        SELECT refusal FROM internal.decide_access('acme', 'sso', 'dev:eve', jsonb_build_object('iat', extract(epoch FROM now())::bigint, 'groups', 'all'),
                                                                   false, '%s', 'approve', NULL)
                        """
                                .formatted(request)));
        assertEquals("void", decides("sso", "dev:eve", 10, false, request));
        String later =
                asked.one(
                        """
                        SELECT id FROM internal.request_access('acme', 'sso', 'dev:eve', '{"groups": ["dev"]}', 'agents', 'agent:bot',
                               '{mail}', 'to answer the mail', 600, false)
                        """);
        assertEquals("granted", decides("sso", "dev:eve", 10, false, later));
    }

    @Test
    void a_rule_that_changes_or_a_block_stops_consent() {
        String request = pending();
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'agent:bot', 'INC-1')");
        assertEquals("requester_blocked", decides("sso", "dev:eve", 10, false, request));
        database.admin("UPDATE broker.blocked_subject SET enabled = false");
        database.admin("UPDATE broker.access_rule SET consent = false WHERE id = 4");
        database.assertRows("SELECT status FROM broker.access_request", "void");
    }

    @Test
    void a_subject_who_is_blocked_by_another_name_is_not_asked_to_consent() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_admin', 'sso', 'dev:eve');
                INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'lead:ann', 'INC-7');
                """);
        assertEquals(
                "nobody_can_approve Nobody can approve access to key \"mail\": access rule 4 needs"
                        + " the consent of its subject, who is blocked.",
                requests("agents", "agent:bot", "refusal || ' ' || detail"));
    }
}
