package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

/**
 * Rows that the database would have refused: written by an owner who took its rules away, or before
 * there were any. Each costs only itself.
 */
class UnreadableRowsTest {
    @AutoClose private World world;

    @BeforeEach
    void start() {
        world = new World();
        // one table in a transaction: the broker reads them all in one, and would wait for the
        // other
        world.database()
                .runAsSuperuser(
                        """
                        DO $$ DECLARE rule record; BEGIN
                            FOR rule IN SELECT conrelid::regclass AS at, conname AS name
                                          FROM pg_constraint
                                         WHERE contype = 'c'
                                           AND connamespace = 'broker'::regnamespace LOOP
                                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', rule.at, rule.name);
                                COMMIT;
                            END LOOP;
                        END $$
                        """);
        for (String table : List.of("key", "subject_grant", "identity_provider")) {
            world.database()
                    .runAsSuperuser("ALTER TABLE broker.%s DISABLE TRIGGER USER".formatted(table));
        }
    }

    private Answer mint(String key) {
        return world.broker().mint(world.token(), key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'1e1001'",
                "'1e-1001'",
                "repeat('9', 1001)",
                "repeat('[', 1100) || repeat(']', 1100)",
                "'{\"' || repeat('n', 60000) || '\": 1}'",
                "'\"' || repeat('x', 4000000) || '\"'"
            })
    void a_key_whose_settings_cant_be_read_is_missing_and_the_others_are_there(String value) {
        world.database()
                .runAsSuperuser(
                        """
                        UPDATE broker.key
                           SET settings = settings
                                          || jsonb_build_object('claims', cast(%s AS jsonb))
                         WHERE name = 'api';
                        """
                                .formatted(value));
        assertEquals(404, mint("api").status());
        assertEquals(200, mint("deploy").status());
    }

    @Test
    void many_keys_that_are_too_large_dont_exhaust_the_process() {
        world.database()
                .runAsSuperuser(
                        """
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        SELECT 'acme', 'large-' || n, 'own', 600,
                               jsonb_build_object('audience', repeat('x', 4000000))
                          FROM generate_series(1, 45) AS n;
                        UPDATE broker.key SET description = repeat('x', 90000000)
                         WHERE name = 'spare';
                        """);
        assertEquals(404, mint("large-7").status());
        assertEquals(200, mint("api").status());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "claims = cast('{\"a\": 1e1001}' AS jsonb)",
                "claims = cast('{\"a\": \"' || repeat('x', 4000000) || '\"}' AS jsonb)",
                "claims = cast('{\"a\": {\"glob\": \"' || repeat('**a', 200) || '\"}}' AS jsonb)",
                "match = 'glob', subject = 'ci' || repeat('**', 9) || repeat('x', 9)",
                "match = 'glob', subject = repeat('x', 513)",
                "match = 'regex'"
            })
    void a_grant_that_cant_be_read_grants_nothing_and_the_others_do(String broken) {
        world.database()
                .runAsSuperuser("UPDATE broker.subject_grant SET " + broken + " WHERE key = 'api'");
        assertEquals(403, mint("api").status());
        assertEquals(200, mint("deploy").status());
    }

    @Test
    void an_identity_provider_that_cant_be_read_is_unknown_and_the_others_are_known() {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('broken', 'acme', '%s', '{broken}'), ('large', 'acme', '%s', '{large}');
                """
                        .formatted(world.issuer().url(), world.issuer().url()));
        world.database()
                .runAsSuperuser(
                        """
                        UPDATE broker.identity_provider
                           SET required_claims = cast('{"a": 1e1001}' AS jsonb)
                         WHERE name = 'broken';
                        UPDATE broker.identity_provider
                           SET ca_certificate = repeat('x', 4000000) WHERE name = 'large';
                        """);
        assertEquals(200, mint("api").status());
        for (String audience : new String[] {"broken", "large"}) {
            String token = world.issuer().sign(World.SUBJECT, audience);
            assertEquals(401, world.broker().mint(token, "api").status());
        }
        assertEquals(200, world.broker().get("/credentials/idp-providers").status());
    }
}
