package io.mintmark.console.pages;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.frame.Links;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Whatever stands in a column is shown as text, all of it, and does nothing. */
@Tag("every-postgres")
class HostileDataTest {
    private static final String SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    private static final String BREAKOUT = "\"'><svg/onload=alert(3)>${7*7}@{8*8}&lt;b&gt;";
    private static final String SQL = "'; DROP TABLE audit.event; --\\";
    private static final String TURNED =
            "repo:acme/\u202Eniam/\u2066x\u2069\u200B\u00A0y"
                    + "\u3164\u115F\u1160\uFFA0\u2800\u17B4\u034F\uFE0F\uDB40\uDC41";
    private static final String LONG = "repo:" + "喵".repeat(1_019);
    private static final List<String> ALL = List.of(SCRIPT, BREAKOUT, SQL, TURNED, LONG);

    private static final String ROWS =
            """
            INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp,
                   issuer, subject, key, provider, provider_type, grant_id, grant_revision, reason,
                   detail, credential_id, issued_at, expires_at, token_id, token_hash, claims,
                   client_address, user_agent, broker)
            SELECT (lpad(to_hex(floor(extract(epoch FROM now()) * 1000)::bigint), 12, '0')
                    || '7000800000000000000' || ?)::uuid, 2, 'withheld', now(), h, 'acme', 'ci', h, h,
                   h, h, h, 1, 1, h, h, h, now(), now() + interval '1 hour', h,
                   decode(repeat('ab', 32), 'hex'), jsonb_build_object(h, h), '10.0.0.1', h, h
              FROM (SELECT CAST(? AS text) AS h) AS hostile
            """;

    /** What a template itself never writes. */
    private static final Pattern ALIVE =
            Pattern.compile("<(script|img src=x|svg/)|49@|\\son[a-z]+=\"|javascript:|style=");

    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void setUp() throws SQLException {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('ci', 'acme', 'https://issuer.example.com', '{mintmark}');
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'own', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'api', 'own', 900, '{"audience": "https://api.example.com"}');
                INSERT INTO broker.console_access (tenant, all_tenants, claim, value) VALUES (NULL, true, 'role', '"auditor"')
                """);
        try (Connection admin = database.connect(Who.ADMIN);
                PreparedStatement grant =
                        admin.prepareStatement(
                                "INSERT INTO broker.subject_grant (tenant, idp, subject, key,"
                                        + " claims, reason) VALUES ('acme', 'ci', ?, 'api',"
                                        + " jsonb_build_object('x', CAST(? AS text)), ?)")) {
            for (String hostile : ALL) {
                for (int place = 1; place <= 3; place++) {
                    grant.setString(
                            place,
                            place == 3
                                    ? hostile.substring(0, Math.min(900, hostile.length()))
                                    : hostile);
                }
                grant.execute();
            }
        }
        try (Connection app = database.connect(Who.APP);
                PreparedStatement row = app.prepareStatement(ROWS)) {
            for (String hostile : ALL) {
                row.setString(1, Integer.toString(ALL.indexOf(hostile)));
                row.setString(2, hostile);
                row.execute();
            }
        }
        world = ConsoleWorld.of(database);
    }

    private static String harmless(String path) {
        HttpResponse<String> answer = world.get("auditor", path);
        assertEquals(200, answer.statusCode(), path + answer.body());
        assertFalse(ALIVE.matcher(answer.body()).find(), answer.body());
        assertTrue(
                answer.body()
                        .codePoints()
                        .noneMatch(point -> point != '\n' && VisibleText.isHidden(point)),
                "something hidden in " + path);
        return answer.body();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/", "/mints", "/tenants/acme",
                "/tenants/acme/history", "/keys/acme/api", "/mints?outcome=withheld"
            })
    void a_list_of_hostile_rows_shows_them_as_text(String path) {
        String page = harmless(path);

        assertTrue(page.contains("&lt;script>") || page.contains("&lt;script&gt;"), page);
        assertTrue(page.contains("⟨U+202E⟩"), page);
        assertTrue(page.contains("y⟨U+3164⟩⟨U+115F⟩⟨U+1160⟩⟨U+FFA0⟩⟨U+2800⟩"), page);
        assertTrue(page.contains("⟨U+FE0F⟩⟨U+E0041⟩"), page);
        assertTrue(page.contains("喵".repeat(100)), page);
    }

    static Stream<String> hostile() {
        return ALL.stream();
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void a_hostile_text_is_found_and_stands_as_text_on_every_page_about_it(String text) {
        String id =
                database.column("SELECT mint_id FROM audit.event ORDER BY mint_id")
                        .get(ALL.indexOf(text));
        String encoded = Links.encoded(text);

        assertAll(
                () -> assertTrue(harmless("/mints?q=" + encoded).contains("/mints/" + id)),
                () -> assertTrue(harmless("/subjects?q=" + encoded).contains("/mints/" + id)),
                () -> harmless("/mints?tenant=" + encoded),
                () -> harmless("/mints?key=" + encoded),
                () -> harmless("/mints?outcome=" + encoded),
                () -> harmless("/tenants?q=" + encoded),
                () -> harmless("/explain?idp=" + encoded + "&claims=" + encoded),
                () -> harmless("/mints/" + id),
                () -> harmless("/explain?mint=" + id),
                () ->
                        harmless(
                                "/tenants/acme/history?table=subject_grant&row="
                                        + (ALL.indexOf(text) + 1)));
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void a_typed_address_shows_no_more_than_that_there_is_nothing(String text) {
        for (String path :
                List.of(
                        "/tenants/",
                        "/keys/x/",
                        "/mints/",
                        "/tenants/acme/history?table=key&row=")) {
            HttpResponse<String> answer = world.get("auditor", path + Links.encoded(text));

            assertTrue(List.of(404, 400).contains(answer.statusCode()), path);
            assertFalse(ALIVE.matcher(answer.body()).find(), answer.body());
        }
    }
}
