package io.mintmark.endtoend;

import static io.mintmark.endtoend.StsForms.message;
import static io.mintmark.endtoend.StsForms.verdict;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/** The key that {@code POST /sdk/sts} mints for a role. */
class StsKeySelectionTest {
    private static final String OTHER_ROLE = "arn:aws:iam::123456789012:role/api";
    private static final String SHARED_ROLE = "arn:aws:iam::123456789012:role/team/second";
    private static final String AMBIGUOUS_ROLE = "arn:aws:iam::123456789012:role/three";
    private static final String STORAGE_ROLE = "arn:minio:iam:::role/x";

    @AutoClose private static World world;
    @AutoClose private static StsStandIn minio;

    @BeforeAll
    static void start() {
        world = new World();
        minio = StsStandIn.minio(world.broker().url().toString(), world.broker()::keySet, "policy");
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'minio', 's3-sts', '{"endpoint": "%1$s"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs)
                VALUES ('acme', 'other', 'aws', 3600, '{"role_arn": "%2$s"}',
                        '{"ID": "AccessKeyId"}'),
                       ('acme', 'first', 'aws', 3600, '{"role_arn": "%3$s"}', '{}'),
                       ('acme', 'second', 'aws', 3600, '{"role_arn": "%3$s"}', '{}'),
                       ('acme', 'hidden', 'aws', 3600, '{"role_arn": "%4$s"}', '{}'),
                       ('acme', 'one', 'aws', 3600, '{"role_arn": "%6$s"}', '{}'),
                       ('acme', 'two', 'aws', 3600, '{"role_arn": "%6$s"}', '{}'),
                       ('acme', 'bucket', 'minio', 3600, '{"role_arn": "%5$s"}', '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', 'ci:main', name FROM broker.key
                 WHERE name IN ('other', 'first', 'second', 'one', 'two', 'bucket');
                """
                        .formatted(
                                minio.endpoint(),
                                OTHER_ROLE,
                                SHARED_ROLE,
                                World.ROLE.replace("deploy", "hidden-role"),
                                STORAGE_ROLE,
                                AMBIGUOUS_ROLE));
        Eventually.holds(() -> world.broker().keys(world.token()).body().path("keys").size() == 8);
    }

    private static Answer post(String requestId, Map<String, String> form) {
        return world.broker()
                .send(
                        StsForms.request(world.broker().url(), StsForms.encoded(form))
                                .header("X-Request-ID", requestId));
    }

    private static Answer assume(String requestId, String role) {
        return post(requestId, StsForms.form(world.token(), role));
    }

    private static String role(String name) {
        return "arn:aws:iam::000000000000:role/" + name;
    }

    @Test
    void the_key_whose_own_role_it_is_wins_over_the_key_of_that_name() {
        assertEquals(200, assume("own", OTHER_ROLE).status());
        world.assertAudited("own", "requested other", "issued other");
    }

    @Test
    void a_role_that_no_granted_key_has_names_the_key_by_its_last_part() {
        for (String arn : List.of(role("deploy"), role("a/path/deploy"), "arn:x:deploy")) {
            assertEquals(200, assume("named", arn).status(), arn);
        }
        assertEquals(200, assume("storage", STORAGE_ROLE).status());
        assertEquals(200, assume("storage", role("bucket")).status());
        world.assertAudited(
                "storage",
                "requested bucket",
                "issued bucket",
                "requested bucket",
                "issued bucket");
    }

    @Test
    void a_role_of_several_granted_keys_needs_a_name_among_them() {
        assertEquals(200, assume("several", SHARED_ROLE).status());
        world.assertAudited("several", "requested second", "issued second");
        Answer answer = assume("ambiguous", AMBIGUOUS_ROLE);
        assertEquals("400 ValidationError", verdict(answer));
        assertTrue(message(answer).contains("'one', 'two'"), answer::toString);
        world.assertAudited("ambiguous");
    }

    @Test
    void the_role_of_a_key_that_is_not_granted_leads_nowhere() {
        Answer answer = assume("hidden", World.ROLE.replace("deploy", "hidden-role"));
        assertEquals("403 AccessDenied", verdict(answer));
        world.assertAudited("hidden", "denied hidden-role no_such_key");
        assertEquals("403 AccessDenied", verdict(assume("hidden-key", role("hidden"))));
        world.assertAudited("hidden-key", "denied hidden not_granted");
        assertEquals("400 ValidationError", verdict(assume("no-name", role("a+b"))));
    }

    @Test
    void a_stranger_can_not_find_out_which_keys_and_roles_there_are() {
        String stranger = world.issuer().sign("ci:stranger", World.AUDIENCE);
        List<String> bodies =
                List.of(role("deploy"), role("api"), role("nothing"), OTHER_ROLE).stream()
                        .map(arn ->
                                post("stranger", StsForms.form(stranger, arn))
                                        .toString()
                                        .replaceAll("'(deploy|api|nothing)'", "'KEY'"))
                        .distinct()
                        .toList();
        assertEquals(1, bodies.size(), bodies::toString);
        assertTrue(bodies.getFirst().startsWith("403 "), bodies::toString);
    }

    @Test
    void a_granted_key_of_another_type_is_refused_before_anything_is_minted() {
        Answer answer = assume("type", role("api"));
        assertEquals("400 ValidationError", verdict(answer));
        assertTrue(message(answer).contains("'api' has type 'jwt'"), answer::toString);
        world.assertAudited("type");
    }
}
