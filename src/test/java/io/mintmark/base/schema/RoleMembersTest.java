package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.audit.log.PostgresSeals;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Members of the group roles, in the view and on record. */
@Tag("every-postgres")
class RoleMembersTest {
    private final String kim = "kim_" + UUID.randomUUID().toString().substring(0, 8);
    private final String leads = "leads_" + UUID.randomUUID().toString().substring(0, 8);
    private TestDatabase database;

    @BeforeEach
    void setUp() {
        database = TestDatabase.migrated();
        database.runAsSuperuser("CREATE ROLE %s LOGIN; CREATE ROLE %s".formatted(kim, leads));
    }

    @AfterEach
    void close() {
        database.runAsSuperuser("DROP ROLE %s, %s".formatted(kim, leads));
        database.close();
    }

    private List<String> recorded() {
        Seals.seal(database);
        return database.column(
                Who.AUDITOR,
                """
                SELECT concat_ws(' ', operation, coalesce(after, before) ->> 'role_name', coalesce(after, before) -> 'via')
                  FROM audit.config_change
                 WHERE tenant IS NULL AND table_name = 'role_member' AND coalesce(after, before) ->> 'member' = '%s'
                 ORDER BY revision
                """
                        .formatted(kim));
    }

    @Test
    void what_is_recorded_is_in_force_for_everybody_before_it_is_sealed() {
        Seals.seal(database);
        database.runAsSuperuser("GRANT mintmark_admin TO " + kim);
        String last = "SELECT max(revision) FROM audit.config_change WHERE tenant IS NULL";
        try (Database connections = new Database(database.login(Who.APP))) {
            var _ =
                    new PostgresSeals(connections, "test")
                            .seal(
                                    true,
                                    unsealed -> {
                                        assertEquals(
                                                database.column(Who.AUDITOR, last),
                                                unsealed.heads().changes().stream()
                                                        .filter(head -> head.chain().isEmpty())
                                                        .map(head -> Long.toString(head.at()))
                                                        .toList());
                                        return Optional.empty();
                                    });
        }
    }

    private List<String> listed() {
        return database.column(
                Who.AUDITOR,
                "SELECT concat_ws(' ', role_name, via, since IS NOT NULL) FROM audit.role_member WHERE member = '%s' ORDER BY 1"
                        .formatted(kim));
    }

    @Test
    void each_seal_records_who_became_a_member_and_who_no_longer_is() {
        assertEquals(List.of(), recorded());
        database.runAsSuperuser("GRANT mintmark_admin TO " + kim);
        assertEquals(List.of("mintmark_admin mintmark_admin f"), listed());
        assertEquals(List.of("INSERT mintmark_admin [\"mintmark_admin\"]"), recorded());
        assertEquals(List.of("mintmark_admin mintmark_admin t"), listed());
        assertEquals(1, recorded().size(), "no change, no row");
        database.runAsSuperuser("REVOKE mintmark_admin FROM " + kim);
        assertEquals(List.of(), listed());
        assertEquals(
                List.of(
                        "INSERT mintmark_admin [\"mintmark_admin\"]",
                        "DELETE mintmark_admin [\"mintmark_admin\"]"),
                recorded());
        assertEquals(List.of(), Seals.wrong(database), "the record is part of the proof");
    }

    @Test
    void members_by_way_of_another_role_are_listed_with_it() {
        database.runAsSuperuser(
                "GRANT mintmark_auditor TO %1$s; GRANT %1$s TO %2$s".formatted(leads, kim));
        assertEquals(List.of("mintmark_auditor " + leads + " f"), listed());
        assertEquals(List.of("INSERT mintmark_auditor [\"" + leads + "\"]"), recorded());
    }

    @Test
    void an_open_edit_delays_the_record_and_not_the_seal() throws Exception {
        database.runAsSuperuser("GRANT mintmark_admin TO " + kim);
        try (var connection = database.connect(Who.ADMIN);
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(
                    "INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES"
                            + " ('https://x.example', '{org}')");
            assertEquals(List.of(), recorded());
            connection.rollback();
        }
        assertEquals(1, recorded().size());
    }
}
