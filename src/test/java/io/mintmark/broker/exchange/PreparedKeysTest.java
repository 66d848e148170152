package io.mintmark.broker.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.broker.grant.Key;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.AccessProviders;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;

/** How often a key's settings are read. */
final class PreparedKeysTest {
    @AutoClose private final Stage stage = new Stage();
    private final MemoryTenant tenant = stage.tenant;
    private final FakeCloud cloud = stage.cloud;

    @Test
    void a_rows_settings_are_read_once_for_all_its_mints() {
        tenant.key("deploy").key("api").grant(Stage.SUBJECT, "deploy").grant(Stage.SUBJECT, "api");

        for (int i = 0; i < 5; i++) {
            stage.minted("deploy", "api");
        }

        assertEquals(List.of("deploy", "api"), cloud.prepared());
        assertEquals(10, cloud.orders().size());
    }

    @Test
    void they_are_read_again_when_the_row_was_edited() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.minted("deploy");

        tenant.key("deploy", "elsewhere");
        stage.minted("deploy");
        stage.minted("deploy");

        assertEquals(List.of("deploy", "elsewhere"), cloud.prepared());
    }

    @Test
    void settings_that_are_refused_are_refused_each_time_for_the_same_reason() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        cloud.refuse("deploy");

        for (int i = 0; i < 3; i++) {
            assertEquals(
                    new MintRefusal("cloud", "deploy", MintRefusal.Reason.PROVIDER_MISCONFIGURED),
                    stage.refusal("deploy"));
        }

        assertEquals(List.of("deploy"), cloud.prepared());
        assertEquals(List.of(), cloud.orders());
        assertEquals(
                List.of("key setting 'target' can't work"),
                stage.store.events().stream()
                        .flatMap(row -> row.detail().stream())
                        .distinct()
                        .toList());
    }

    @Test
    void what_is_made_of_one_row_serves_no_other_however_alike() {
        Key row = row("deploy");
        Key other = row("deploy");
        assertEquals(row, other);
        PreparedKeys keys = keys();

        assertNotSame(keys.of(row), keys.of(other));
        assertSame(keys.of(row), keys.of(row));
    }

    @Test
    void a_row_that_nobody_holds_any_more_is_forgotten() {
        PreparedKeys keys = keys();
        Key held = row("api");
        WeakReference<Key> dropped = prepared(keys, "deploy");
        keys.of(held);
        tenant.key("deploy");

        Eventually.holds(() -> {
            System.gc();
            return dropped.refersTo(null);
        });
        assertSame(keys.of(held), keys.of(held));
    }

    private PreparedKeys keys() {
        return new PreparedKeys(new AccessProviders(List.of(cloud), stage.now::get));
    }

    private WeakReference<Key> prepared(PreparedKeys keys, String name) {
        Key row = row(name);
        keys.of(row);
        return new WeakReference<>(row);
    }

    private Key row(String name) {
        return Objects.requireNonNull(
                tenant.key(name)
                        .tenant(MemoryTenant.NAME, Long.MAX_VALUE)
                        .keys()
                        .get(new KeyName(name)));
    }
}
