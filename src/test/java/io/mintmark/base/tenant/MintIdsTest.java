package io.mintmark.base.tenant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;

class MintIdsTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00.123Z");

    @Test
    void an_id_is_a_uuid_of_version_7_and_begins_with_the_time() {
        UUID id = new MintIds(InstantSource.fixed(NOON), new Random()).next().value();
        assertEquals(7, id.version());
        assertEquals(2, id.variant());
        assertEquals(NOON.toEpochMilli(), id.getMostSignificantBits() >>> 16);
    }

    @Test
    void each_is_greater_than_the_one_before_though_the_clock_stands_or_goes_back() {
        AtomicReference<Instant> now = new AtomicReference<>(NOON);
        MintIds ids = new MintIds(now::get, new Random());
        String last = "";
        for (int i = 0; i < 10_000; i++) {
            if (i == 5_000) {
                now.set(NOON.minusSeconds(3_600));
            }
            String next = ids.next().toString();
            assertTrue(next.compareTo(last) > 0, next);
            last = next;
        }
    }

    @Test
    void other_uuids_are_no_mint_ids() {
        assertThrows(IllegalArgumentException.class, () -> new MintId(UUID.randomUUID()));
    }
}
