package io.mintmark.broker.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.verdict.Unavailable;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A tenant, or a subject, with more rows than a replica reads. */
final class TooLargeTest {
    private static final long TOO_MUCH = Long.MAX_VALUE;

    @AutoClose private final Stage stage = new Stage();
    private final MemoryTenant tenant = stage.tenant;

    @BeforeEach
    void grant() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
    }

    private void assertUnavailable() {
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
    }

    /** It is read twice: by readers of something small, and by those of something large. */
    @Test
    void a_tenant_is_refused_and_read_again_only_in_another_state() {
        tenant.weigh(TOO_MUCH);
        assertUnavailable();
        assertUnavailable();
        assertEquals(2, tenant.readings());
        tenant.touch();
        stage.catalogue.changed(MemoryTenant.NAME);
        assertUnavailable();
        assertEquals(4, tenant.readings());
        tenant.weigh(0);
        stage.catalogue.changed(MemoryTenant.NAME);
        stage.minted("deploy");
    }

    @Test
    void a_subject_is_refused_and_read_again_only_in_another_state() {
        tenant.weighGrants(TOO_MUCH);
        assertUnavailable();
        assertUnavailable();
        assertEquals(2, tenant.readingsOfGrants());
        tenant.weighGrants(0);
        stage.catalogue.changed(MemoryTenant.NAME);
        stage.minted("deploy");
    }
}
