package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.grant.SubjectGrants;
import io.mintmark.broker.grant.TenantSnapshot;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;

/** Readers of tenants stop where they would hold too much. */
class TooMuchToReadTest {
    private static final TenantName ACME = new TenantName("acme");
    private static final IdpName CI = new IdpName("ci");
    private static final long ALL = Long.MAX_VALUE;

    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = database.closing(new Database(database.login(Who.APP)));
    private final PostgresCatalogue catalogue = new PostgresCatalogue(connections);

    @BeforeEach
    void fill() throws IOException {
        database.admin(SqlCase.script("refusals", "setup"));
    }

    private void grant(int from, int to) {
        database.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims)
                SELECT 'acme', 'ci', 'many', 'api', jsonb_build_object('run', n) FROM generate_series(%d, %d) AS n
                """
                        .formatted(from, to));
    }

    private SubjectGrants grants(long most) {
        return catalogue.grants(ACME, CI, "many", most);
    }

    @Test
    void a_tenant_with_more_bytes_is_too_large_and_empty() {
        TenantSnapshot whole = catalogue.tenant(ACME, ALL);
        assertFalse(catalogue.tenant(ACME, whole.bytes()).tooLarge());
        TenantSnapshot large = catalogue.tenant(ACME, whole.bytes() - 1);
        assertTrue(large.tooLarge());
        assertEquals(whole.state(), large.state());
        assertTrue(large.keys().isEmpty() && large.identityProviders().isEmpty());
        assertEquals(3, whole.keys().size());
    }

    @Test
    void tenants_with_more_bytes_are_named_unless_they_are_disabled() {
        long other = catalogue.tenant(new TenantName("other"), ALL).bytes();
        assertEquals(List.of(), catalogue.tooLarge(ALL));
        assertEquals(List.of("acme"), catalogue.tooLarge(other));
        assertEquals(List.of("acme", "other"), catalogue.tooLarge(other - 1));
        database.admin("UPDATE broker.tenant SET enabled = false WHERE name = 'acme'");
        assertEquals(List.of("other"), catalogue.tooLarge(other - 1));
    }

    @Test
    void a_subject_with_more_bytes_is_too_large_and_blocked() {
        grant(1, 10);
        SubjectGrants whole = grants(ALL);
        assertEquals(10, whole.grants().size());
        assertFalse(grants(whole.bytes()).tooLarge());
        SubjectGrants large = grants(whole.bytes() - 1);
        assertTrue(large.tooLarge());
        assertTrue(large.grants().isEmpty());
        assertEquals(SubjectGrants.tooLarge(whole.state()), large);
    }

    /** The database refuses them; an owner can still write them. */
    @Test
    void a_subject_with_more_than_a_thousand_grants_is_too_large() {
        grant(1, SubjectGrants.MOST);
        assertEquals(SubjectGrants.MOST, grants(ALL).grants().size());
        database.runAsSuperuser("ALTER TABLE broker.subject_grant DISABLE TRIGGER check_inserted");
        grant(SubjectGrants.MOST + 1, SubjectGrants.MOST + 1);
        assertTrue(grants(ALL).tooLarge());
    }

    @Test
    void a_subject_without_grants_and_an_unknown_tenant_are_not_too_large() {
        assertFalse(grants(0).tooLarge());
        assertFalse(catalogue.tenant(new TenantName("nobody"), 0).tooLarge());
    }
}
