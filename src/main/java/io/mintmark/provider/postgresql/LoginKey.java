package io.mintmark.provider.postgresql;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Settings;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The settings of a key of type {@code postgresql}.
 *
 * @param role what a login is a member of
 * @param isOwner whether what a login creates belongs to that role
 * @param connectionLimit of a login
 * @param parameters of its sessions, by name
 * @param leftovers what becomes of objects that a login owns
 * @param databases in which they may be, besides the access provider's
 */
record LoginKey(
        String role,
        boolean isOwner,
        int connectionLimit,
        Map<String, String> parameters,
        Leftovers leftovers,
        List<String> databases) {
    private static final Set<String> NAMES =
            Set.of("role", "as", "connection_limit", "parameters", "leftovers", "databases");
    private static final Set<String> PARAMETERS =
            Set.of(
                    "statement_timeout",
                    "idle_in_transaction_session_timeout",
                    "lock_timeout",
                    "search_path",
                    "default_transaction_read_only",
                    "application_name");
    private static final int USUAL_CONNECTIONS = 10;
    private static final int MOST_CONNECTIONS = 1_000;
    private static final int MOST_DATABASES = 20;
    private static final Pattern SEARCH_PATH =
            Pattern.compile(
                    "[A-Za-z_$][A-Za-z0-9_$]{0,62}(, ?[A-Za-z_$][A-Za-z0-9_$]{0,62}){0,15}");

    LoginKey {
        parameters = Map.copyOf(parameters);
        databases = List.copyOf(databases);
    }

    /** Reads the key's settings. */
    static LoginKey of(JsonNode settings) {
        Settings key = Settings.ofKey(settings, NAMES);
        String role = PostgresSettings.name(key, "role", key.requiredText("role"));
        if (RoleName.of(role).isPresent()) {
            throw key.unusable("role", "must not be a login that the broker made for a mint");
        }
        Leftovers leftovers = Leftovers.named(key.oneOf("leftovers", "keep", "drop", "give"));
        List<String> databases = key.texts("databases");
        databases.forEach(each -> PostgresSettings.name(key, "databases", each));
        if (databases.size() > MOST_DATABASES) {
            throw key.unusable(
                    "databases",
                    "has %d databases; the maximum is %d"
                            .formatted(databases.size(), MOST_DATABASES));
        }
        if (leftovers == Leftovers.KEEP && !databases.isEmpty()) {
            throw key.unusable(
                    "databases",
                    "is set, but leftovers 'keep' doesn't use it: set leftovers to drop or give");
        }
        return new LoginKey(
                role,
                key.oneOf("as", "member", "owner").equals("owner"),
                key.number("connection_limit", USUAL_CONNECTIONS, 1, MOST_CONNECTIONS),
                parameters(key),
                leftovers,
                databases);
    }

    /** Roles with this prefix are the server's own, and some of them rule it. */
    List<String> literalTargets() {
        return role.startsWith("pg_") ? List.of(role) : List.of();
    }

    /** The statements that set the parameters of a role. */
    Stream<String> parameterStatements(String login) {
        return parameters.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(each ->
                        "ALTER ROLE %s SET %s = %s"
                                .formatted(
                                        login,
                                        each.getKey(),
                                        value(each.getKey(), each.getValue())));
    }

    private static String value(String name, String value) {
        return name.equals("search_path")
                ? Stream.of(value.split(",", -1))
                        .map(String::strip)
                        .map(Sql::text)
                        .collect(Collectors.joining(", "))
                : Sql.text(value);
    }

    private static Map<String, String> parameters(Settings key) {
        Map<String, String> given = key.textsByName("parameters");
        given.forEach((name, value) -> {
            if (!PARAMETERS.contains(name)) {
                throw key.unusable(
                        "parameters", "names '%s', which a key can't set".formatted(name));
            }
            if (name.equals("search_path") && !SEARCH_PATH.matcher(value).matches()) {
                throw key.unusable(
                        "parameters", "has a search_path that isn't a list of plain schema names");
            }
        });
        return given;
    }
}
