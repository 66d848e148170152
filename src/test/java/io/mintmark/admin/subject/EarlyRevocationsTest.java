package io.mintmark.admin.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.EventRefused;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Step 3 of a mint: that its credential has ended. */
class EarlyRevocationsTest {
    @TempDir private Path directory;
    private static final String TENANTS =
            """
            INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
            INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('other', 'test_tenant_admin');
            """;

    @AutoClose private final TestDatabase database = TestDatabase.filled(TENANTS);
    private final Database connections = database.closing(new Database(database.login(Who.APP)));
    private final PostgresEventStore store = new PostgresEventStore(connections, "one");
    private final PostgresEventStore other = new PostgresEventStore(connections, "two");

    private static List<Event> withheld() {
        return AuditRows.mint("deploy", "aws-sts", "ASIAWITHHELD", false);
    }

    private List<String> active() {
        return database.column(
                "SELECT concat_ws(' ', subject, outcome, reason) FROM audit.active_credential ORDER"
                        + " BY 1");
    }

    private List<String> unended() {
        return database.column(
                """
                SELECT concat_ws(' ', subject, outcome, reason, credential_id,
                                 CASE WHEN works_until IS NULL THEN 'left' END)
                  FROM audit.unended ORDER BY 1
                """);
    }

    private void end(List<Event> mint, How how) {
        store.append(List.of(AuditRows.ended(mint, how)));
    }

    @Test
    void a_mint_tells_when_and_how_its_credential_ended() {
        List<Event> mint = withheld();
        store.append(mint);
        database.assertRows("SELECT num_nonnulls(ended_at, ended_how) FROM audit.mint", "0");
        end(mint, How.DISARMED);
        database.assertRows(
                """
                SELECT concat_ws(' ', outcome, ended_at >= outcome_at, ended_how, ended_detail)
                  FROM audit.mint
                """,
                "withheld t disarmed it owns 1 table");
        database.assertRows(
                """
                SELECT concat_ws(' ', step, kind, tenant, key, provider, provider_type, credential_id,
                                 request_id, idp, issuer, subject, grant_id, issued_at, expires_at,
                                 token_hash, claims, client_address, user_agent)
                  FROM audit.event WHERE step = 3
                """,
                "3 ended acme deploy cloud aws-sts ASIAWITHHELD");
    }

    @Test
    void what_has_ended_is_not_active_whatever_its_outcome() {
        List<List<Event>> mints =
                List.of(
                        AuditRows.mint("issued", "{}"),
                        AuditRows.failed("in doubt", "provider_timeout"),
                        AuditRows.mint("open", "{}").subList(0, 1),
                        withheld());
        mints.forEach(store::append);
        assertEquals(
                List.of(
                        "ci:main withheld other_key_failed",
                        "in doubt failed provider_timeout",
                        "issued issued",
                        "open unresolved"),
                active());
        mints.forEach(mint -> end(mint, How.ASKED_FOR));
        assertEquals(List.of(), active());
        database.assertRows("SELECT subject FROM audit.unresolved", "open");
    }

    @Test
    void what_was_not_handed_out_is_unended_until_it_ended_or_expired() {
        List<Event> dropped = withheld();
        store.append(dropped);
        store.append(AuditRows.mint("issued", "{}"));
        store.append(AuditRows.failed("in doubt", "provider_timeout"));
        store.append(AuditRows.failed("clear", "provider_rejected"));
        store.append(AuditRows.mint("in flight", "{}").subList(0, 1));
        store.append(AuditRows.mintAt(Instant.now().minusSeconds(180), "died").subList(0, 1));
        assertEquals(
                List.of(
                        "ci:main withheld other_key_failed ASIAWITHHELD",
                        "died unresolved",
                        "in doubt failed provider_timeout"),
                unended());
        end(dropped, How.UNDONE);
        assertEquals(List.of("died unresolved", "in doubt failed provider_timeout"), unended());
    }

    @Test
    void what_leaves_something_behind_is_unended_after_its_end_until_that_is_on_record() {
        Instant before = Instant.now().minusSeconds(7200);
        List<Event> over = AuditRows.mintAt(before, "over");
        store.append(over);
        store.append(AuditRows.mintAt(before, "died").subList(0, 1));
        store.append(AuditRows.mint("lives", "{}"));
        assertEquals(List.of(), unended());
        database.runAsSuperuser(
                "UPDATE broker.provider_type SET leaves_behind = true WHERE type = 'aws-sts'");
        assertEquals(List.of("died unresolved left", "over issued ASIAover left"), unended());
        database.assertRows(
                """
                SELECT u.unwanted_since = m.expires_at
                  FROM audit.unended AS u JOIN audit.mint AS m ON m.mint_id = u.mint_id
                 WHERE u.subject = 'over'
                """,
                "t");
        end(over, How.OVER);
        assertEquals(List.of("died unresolved left"), unended());
    }

    private String audit(String... arguments) throws Exception {
        var ran = new AuditCommand(database, directory, Who.AUDITOR).run(arguments);
        assertEquals(0, ran.status(), ran.errors());
        return ran.output();
    }

    @Test
    void a_story_says_that_a_credential_ended_and_whether_one_may_exist() throws Exception {
        List<Event> mint = withheld();
        List<Event> open = AuditRows.mint("open", "{}").subList(0, 1);
        store.append(mint);
        store.append(open);
        String id = mint.getFirst().mintId().toString();
        assertFalse(audit("show", "--mint", id).contains("ended"));
        assertTrue(
                audit("show", "--subject", "open")
                        .contains("outcome    none; a credential may exist until 20"));
        end(mint, How.DISARMED);
        end(open, How.UNDONE);
        String story = audit("show", "--mint", id);
        assertTrue(story.contains("disarmed it owns 1 table"), story);
        String ofOpen = audit("show", "--subject", "open");
        assertTrue(ofOpen.contains("outcome    none\n"), ofOpen);
        assertTrue(ofOpen.contains("undone\n"), ofOpen);
    }

    @Test
    void an_export_has_the_ends_of_its_time_range_and_of_its_subjects_mints() throws Exception {
        database.run(Who.OWNER, "SELECT audit.create_partition('2026-01-01')");
        List<Event> old = AuditRows.mintAt(Instant.parse("2026-01-07T12:00:00Z"), "old");
        List<Event> other = AuditRows.mint("other", "{}");
        store.append(old);
        store.append(other);
        end(old, How.SWEPT);
        end(other, How.OVER);
        String yesterday = Instant.now().minusSeconds(86_400).toString();
        assertEquals(
                List.of("swept", "over"),
                audit("export", "--from", yesterday)
                        .lines()
                        .filter(line -> line.contains("\"kind\": \"ended\""))
                        .map(line -> line.contains("swept") ? "swept" : "over")
                        .toList());
        assertEquals(4, audit("export", "--from", yesterday).lines().count());
        assertEquals(2, audit("export", "--to", "2026-02-01").lines().count());
        assertEquals(6, audit("export").lines().count());
        List<String> ofSubject = audit("export", "--subject", "old").lines().toList();
        assertEquals(3, ofSubject.size());
        assertTrue(ofSubject.getLast().contains("swept"), ofSubject::toString);
    }

    @Test
    void a_second_end_is_refused_and_a_row_beside_it_is_not_lost() {
        List<Event> mint = withheld();
        store.append(mint);
        end(mint, How.UNDONE);
        assertThrows(EventRefused.class, () -> end(mint, How.OVER));
        store.append(AuditRows.mint("next", "{}"));
        database.assertRows("SELECT reason FROM audit.event WHERE step = 3", "undone");
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
    }

    @ParameterizedTest
    @EnumSource(How.class)
    void each_way_to_end_can_be_recorded(How how) {
        List<Event> mint = withheld();
        store.append(mint);
        end(mint, how);
        database.assertRows("SELECT ended_how FROM audit.mint", how.word());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "reason = 'lapsed'", "reason = NULL",
                "step = 2", "tenant = NULL",
                "key = NULL", "provider = NULL",
                "provider_type = NULL", "subject = 'ci:main'",
                "grant_id = 1", "expires_at = now()",
                "token_hash = sha256('x')", "client_address = '10.0.0.1'"
            })
    void an_end_that_lacks_something_or_repeats_more_is_refused(String change) {
        String row =
                """
                INSERT INTO audit.event (mint_id, kind, occurred_at, detail, broker, %s)
                SELECT mint_id, 'ended', now(), 'words', 'b', %s
                  FROM (SELECT gen_random_uuid(), '01a30000-0000-7000-8000-000000000001'::uuid AS mint_id) AS made
                """;
        List<String> members =
                List.of(
                        "step = 3", "tenant = 'acme'",
                        "key = 'deploy'", "provider = 'aws'",
                        "provider_type = 'aws-sts'", "reason = 'over'");
        database.run(Who.APP, insert(row, members));
        List<String> changed =
                Stream.concat(
                                members.stream().filter(each -> !name(each).equals(name(change))),
                                Stream.of(change))
                        .toList();
        assertThrows(
                IllegalStateException.class,
                () -> database.run(Who.APP, insert(row, changed).replace("000001'", "000002'")));
    }

    private static String insert(String row, List<String> members) {
        return row.formatted(
                String.join(", ", members.stream().map(EarlyRevocationsTest::name).toList()),
                String.join(", ", members.stream().map(each -> each.split(" = ", 2)[1]).toList()));
    }

    private static String name(String member) {
        return member.split(" = ", 2)[0];
    }

    @Test
    void a_tenants_admins_see_the_ends_of_their_tenant_alone() {
        List<Event> mint = withheld();
        store.append(mint);
        database.assertRows(Who.TENANT_ADMIN, "SELECT mint_id FROM audit.unended");
        end(mint, How.UNDONE);
        database.assertRows(Who.TENANT_ADMIN, "SELECT kind FROM audit.event");
        database.admin(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme',"
                        + " 'test_tenant_admin')");
        database.assertRows(Who.TENANT_ADMIN, "SELECT ended_how FROM audit.mint", "undone");
    }

    @Test
    void ends_in_other_chains_than_their_mints_are_proven_and_leave_the_proof_of_mints_alone()
            throws Exception {
        GrantedMints granted = new GrantedMints(database);
        List<Event> first = granted.of(AuditRows.mint("first", "{}"));
        List<Event> second = granted.of(AuditRows.mint("second", "{}"));
        List<Event> open = granted.of(AuditRows.mint("open", "{}").subList(0, 1));
        List<Event> ungranted = AuditRows.failed("nobody granted this", "decided_again");
        store.append(first);
        other.append(second);
        other.append(open);
        store.append(ungranted.subList(0, 1));
        for (PostgresEventStore each : List.of(store, other)) {
            List<Event> of = each == store ? second : first;
            each.append(List.of(AuditRows.ended(of, How.OVER)));
        }
        store.append(List.of(AuditRows.ended(open, How.UNDONE)));
        store.append(ungranted.subList(1, 2));
        Seals.seal(database);
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(Map.of(), found.ungranted);
        assertTrue(found.told.contains("1 mints have no outcome"), found.told.toString());
        assertEquals(
                List.of(),
                Seals.foundInExport(database, directory.resolve("log.jsonl"), List.of(Seals.KEY))
                        .wrong);
        Script script = new Script(directory, database);
        assertEquals(0, script.status(List.of()), script::output);
    }

    @Test
    void an_end_does_not_excuse_a_mint_that_nobody_granted() {
        List<Event> mint = AuditRows.mint("nobody granted this", "{}");
        store.append(mint.subList(0, 1));
        end(mint, How.UNDONE);
        Seals.seal(database);
        assertEquals(
                Set.of(mint.getFirst().mintId().toString()),
                Seals.found(database, List.of(Seals.KEY)).ungranted.keySet());
    }

    @Test
    void an_end_whose_mint_was_never_requested_is_found_in_the_log_and_in_an_export()
            throws Exception {
        List<Event> known = withheld();
        List<Event> unknown = withheld();
        store.append(known);
        end(known, How.UNDONE);
        end(unknown, How.UNDONE);
        Seals.seal(database);
        List<String> sentence =
                List.of(
                        "Mint %s ended but was never requested"
                                .formatted(unknown.getFirst().mintId()));
        assertEquals(sentence, Seals.wrong(database));
        Path file = directory.resolve("log.jsonl");
        assertEquals(sentence, Seals.foundInExport(database, file, List.of(Seals.KEY)).wrong);
        Script script = new Script(directory, database);
        assertEquals(1, script.status(List.of()), script::output);
        assertTrue(
                script.output()
                        .contains(
                                "WRONG: mint %s ended but was never requested"
                                        .formatted(unknown.getFirst().mintId())),
                script::output);
    }
}
