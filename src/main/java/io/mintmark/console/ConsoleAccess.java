package io.mintmark.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.StrictJson;
import io.mintmark.base.sql.Query;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Whether a viewer may see anything at all, as {@code broker.console_access} says. */
final class ConsoleAccess {
    private static final String ANY =
            """
            SELECT internal.viewer_sees_all() OR cardinality(internal.tenants_of_viewer()) > 0
            """;

    /** Claims that describe the token, not its subject. */
    private static final Set<String> OF_THE_TOKEN =
            Set.of(
                    "iss",
                    "aud",
                    "azp",
                    "exp",
                    "iat",
                    "nbf",
                    "jti",
                    "nonce",
                    "at_hash",
                    "c_hash",
                    "s_hash",
                    "sid",
                    "session_state",
                    "auth_time",
                    "typ",
                    "uti",
                    "rh",
                    "aio",
                    "ver");

    private static final int LONGEST_CLAIMS = 1 << 16;
    private static final int LONGEST_VALUE = 200;

    private final ViewerDatabase database;

    ConsoleAccess(ViewerDatabase database) {
        this.database = database;
    }

    /**
     * Asks the database for the viewer's access.
     *
     * @throws ReadingFailed if the database doesn't answer
     */
    boolean has(Viewer viewer) {
        return database.read(viewer, ConsoleAccess::any);
    }

    private static boolean any(Connection connection) throws SQLException {
        return Query.of(ANY).first(connection, row -> row.getBoolean(1)).orElse(false);
    }

    /**
     * The page for somebody without access: it lists the claims by which an admin could grant it.
     */
    static Notice refusal(Viewer viewer) {
        return new Notice(
                403,
                "You have no access yet",
                "You are logged in as %s. This account has no access to the console."
                        .formatted(viewer.name()),
                "Send this page to a platform admin. They can grant access by one of these claims: to one tenant, or to all tenants (all_tenants = true).",
                claims(viewer),
                """
                INSERT INTO broker.console_access (tenant, claim, value, reason)
                VALUES ('TENANT', 'sub', %s, 'WHY');\
                """
                        .formatted(quoted(json(viewer).path("sub").toString())),
                List.of(new Notice.Link("Log out", LoginRoutes.LOGOUT)),
                List.of());
    }

    private static Map<String, String> claims(Viewer viewer) {
        Map<String, String> shown = new LinkedHashMap<>();
        json(viewer)
                .properties()
                .forEach(claim -> {
                    if (!OF_THE_TOKEN.contains(claim.getKey())) {
                        shown.put(claim.getKey(), cut(claim.getValue()));
                    }
                });
        return shown;
    }

    private static ObjectNode json(Viewer viewer) {
        return StrictJson.object(viewer.claims().getBytes(StandardCharsets.UTF_8), LONGEST_CLAIMS)
                .orElseThrow();
    }

    private static String cut(JsonNode value) {
        String text = value.toString();
        return text.length() > LONGEST_VALUE ? text.substring(0, LONGEST_VALUE) + "…" : text;
    }

    /** Quotes a literal that is valid with either value of {@code standard_conforming_strings}. */
    private static String quoted(String text) {
        String doubled = text.replace("'", "''");
        return text.indexOf('\\') < 0
                ? "'" + doubled + "'"
                : "E'" + doubled.replace("\\", "\\\\") + "'";
    }
}
