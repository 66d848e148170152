package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What can't come to anything is refused when it is asked for, and what is repeated is one. */
class RefusedAtOnceTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);
    @AutoClose private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    ``                                                                       | has no approver.
                    (role_name) VALUES ('nobody_at_all')                                     | but nobody can give one (login "nobody_at_all" does not exist)
                    (role_name) VALUES ('test_auditor')                                      | login "test_auditor" is not an admin of the tenant
                    (idp, subject) VALUES ('sso', 'dev:eve')                                 | nobody can approve their own request
                    (role_name, idp, subject) VALUES ('test_admin', 'console', 'dev:eve')    | nobody can approve their own request
                    (idp, subject) VALUES ('sso', 'lead:out')                                | approver "lead:out" is blocked
                    (idp, subject, match) VALUES ('sso', 'dev:eve', 'glob')                  | nobody can approve their own request
                    (idp, subject, match) VALUES ('sso', 'lead:out', 'glob')                 | approver "lead:out" is blocked
                    (idp, subject, match) VALUES ('off', 'lead:*', 'glob')                   | identity provider "off" is disabled
                    (idp, subject, match) VALUES ('agents', 'lead:*', 'glob')                | identity provider "agents" accepts no tokens of approvers
                    """)
    void a_request_that_nobody_can_approve_is_refused(String approver, String cause) {
        other(1);
        if (!approver.isEmpty()) {
            database.admin(
                    "INSERT INTO broker.access_approver (rule, "
                            + approver.substring(1).replace("VALUES (", "VALUES (4, "));
        }
        String detail =
                asked.one(asked.request("dev:eve", "other", 600, "refusal || ' ' || detail"));
        assertTrue(
                detail.startsWith("nobody_can_approve Nobody can approve access to key \"other\""),
                detail);
        assertTrue(detail.contains(cause), detail);
        database.assertRows("SELECT count(*) FROM broker.access_request", "0");
        if (!approver.isEmpty() && !approver.contains("dev:eve")) {
            String linted =
                    database.value(
                            "SELECT string_agg(rule, ' ') FROM broker.lint WHERE table_name = 'access_rule' AND name = '4'");
            assertTrue(linted.contains("nobody_can_approve"), linted);
        }
    }

    private void other(int approvals) {
        database.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts, enabled)
                VALUES ('off', 'acme', 'https://off.example.com', '{mintmark}', '{approver}', false),
                       ('agents', 'acme', 'https://sso.example.com', '{agents}', '{actor}', true);
                INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'lead:out', 'left');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'other', 'own', 600, '{"audience": "https://other.example.com"}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                VALUES ('acme', 'other', 'sso', 'dev:**', 'glob', %d, 3600);
                """
                        .formatted(approvals));
    }

    @Test
    void one_person_by_two_names_does_not_make_two_approvals() {
        other(2);
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, role_name) VALUES (4, 'test_admin');
                INSERT INTO broker.access_approver (rule, idp, subject) VALUES (4, 'sso', 'lead:ann'), (4, 'console', 'lead:ann');
                """);
        assertEquals(
                "Nobody can approve access to key \"other\": access rule 4 needs 2 approvals, but only one person can give one.",
                asked.one(asked.request("dev:eve", "other", 600, "detail")));
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject) VALUES (4, 'sso', 'lead:bob')");
        assertEquals("pending", asked.one(asked.request("dev:eve", "other", 600, "status")));
    }

    @ParameterizedTest
    @CsvSource({"deploy, 959, 960", "root, 900, 960"})
    void access_that_no_credential_fits_into_is_refused(String key, int seconds, int least) {
        database.admin("UPDATE broker.key SET max_duration = 3600");
        database.runAsSuperuser(
                "UPDATE broker.provider_type SET min_duration = 900 WHERE type = 'jwt'");
        assertEquals(
                ("too_short Access to key \"%s\" must be requested for at least %d seconds,"
                                + " because the key's shortest credential needs that long.")
                        .formatted(key, least),
                asked.one(asked.request("dev:eve", key, seconds, "refusal || ' ' || detail")));
        assertNotEquals("", asked.asks("dev:eve", key, least));
        database.admin("UPDATE broker.access_rule SET max_access = 900 WHERE id = 3");
        database.assertRows(
                "SELECT name || ' ' || rule FROM broker.lint WHERE table_name = 'access_rule' ORDER BY 1",
                "3 access_never_long_enough",
                "3 credentials_outlive_access");
        assertTrue(
                asked.one(asked.request("dev:jim", "root", 900, "detail"))
                        .contains(
                                "the rule allows only 900 seconds. An admin must raise the rule's"
                                        + " max_access"));
    }

    @ParameterizedTest
    @CsvSource({"root, break_glass", "deploy, requested"})
    void the_same_request_five_times_at_once_is_one(String key, String notice) throws Exception {
        database.admin(
                "UPDATE broker.tenant SET notice_url = 'https://hooks.example.com/x', notice_secret = '{\"file\": \"hooks\"}'");
        List<Callable<String>> posts =
                Stream.generate(() -> (Callable<String>) () -> asked.asks("dev:eve", key, 600))
                        .limit(5)
                        .toList();
        Set<String> ids =
                threads.invokeAll(posts).stream()
                        .map(Future::resultNow)
                        .collect(Collectors.toSet());
        assertEquals(1, ids.size(), ids::toString);
        database.assertRows("SELECT count(*) FROM broker.access_request", "1");
        assertEquals(
                List.of("1"),
                database.column(
                        TestDatabase.Who.OWNER,
                        "SELECT count(*) FROM runtime.access_notice WHERE type LIKE '%"
                                + notice
                                + "'"));
        assertEquals("f", asked.one(asked.request("dev:eve", key, 600, "is_new")).substring(0, 1));
        assertEquals(ids, Set.of(asked.asks("dev:eve", key, 600)));
        assertNotEquals(ids, Set.of(asked.asks("dev:eve", key, 601)), "another request");
    }

    @Test
    void a_break_glass_that_was_given_back_is_asked_for_anew() {
        String first = asked.asks("dev:eve", "root", 600);
        assertEquals("withdrawn", asked.gives("dev:eve", first));
        assertNotEquals(first, asked.asks("dev:eve", "root", 600));
    }

    @Test
    void the_bound_of_changes_says_how_many_and_until_when() {
        String request = asked.asks("dev:eve", "deploy", 600);
        String other = asked.asks("dev:jim", "deploy", 600);
        database.admin("UPDATE broker.tenant SET max_changes = 1");
        String until =
                "refusal || ' ' || bound || ' ' || (retry_after = internal.seconds_until_tomorrow())";
        assertEquals(
                "too_many_changes 2 true",
                asked.one(
                        "SELECT %s FROM internal.withdraw_access('acme', 'sso', 'dev:eve', '%s')"
                                .formatted(
                                        until.replace("= internal.seconds_until_tomorrow()", "> 1"),
                                        request)));
        assertEquals(
                "too_many_changes 1 true",
                asked.one(
                        "SELECT %s FROM internal.decide_access('acme', 'sso', 'lead:bob', '{}', false, '%s', 'approve', NULL)"
                                .formatted(
                                        until.replace("= internal.seconds_until_tomorrow()", "> 1"),
                                        other)));
    }

    @ParameterizedTest
    @CsvSource({"deploy, 960", "root, 3600"})
    void a_key_that_the_tenants_max_duration_keeps_from_being_minted_is_refused(
            String key, int seconds) {
        database.admin("UPDATE broker.key SET max_duration = 3600");
        database.runAsSuperuser(
                "UPDATE broker.provider_type SET min_duration = 900 WHERE type = 'jwt'");
        database.admin("UPDATE broker.tenant SET max_duration = 600");
        assertEquals(
                ("too_short No credential of key \"%s\" is short enough: the tenant allows at most"
                                + " 600 seconds, and credentials of its type last longer. A platform admin must"
                                + " raise the tenant's max_duration.")
                        .formatted(key),
                asked.one(asked.request("dev:eve", key, seconds, "refusal || ' ' || detail")));
        database.admin("UPDATE broker.tenant SET max_duration = 900");
        assertNotEquals("", asked.asks("dev:eve", key, seconds));
    }

    /** No token of such an identity provider could use the grant. */
    @Test
    void a_rule_for_an_identity_provider_that_accepts_no_subjects_allows_nothing() {
        String of =
                "SELECT refusal FROM internal.request_access('acme', 'console', 'lead:eve', '{}', NULL, NULL, '{other}', 'to mend incident 7', 600, false)";
        other(1);
        database.admin(
                """
                UPDATE broker.identity_provider SET accepts = '{subject,approver}' WHERE name = 'console';
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                VALUES ('acme', 'other', 'console', 'lead:**', 'glob', 1, 3600);
                INSERT INTO broker.access_approver (rule, role_name)
                SELECT id, 'test_admin' FROM broker.access_rule WHERE idp = 'console';
                UPDATE broker.identity_provider SET accepts = '{approver}' WHERE name = 'console';
                """);
        assertEquals("no_rule", asked.one(of));
        database.admin(
                "UPDATE broker.identity_provider SET accepts = '{subject,approver}' WHERE name = 'console'");
        assertEquals("null", asked.one(of));
    }
}
