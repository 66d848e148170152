package io.mintmark.base.schema;

import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.schema.SchemaDefinitions.Definition;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.Roles;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the schema of this release consists of: a hash for each object. A test makes the resource
 * from a database that was migrated just now, and says with what command to rewrite it.
 */
public final class SchemaManifest {
    static final String RESOURCE = "/schema-manifest.tsv";

    /** The first major version of PostgreSQL that prints views without unneeded qualifiers. */
    private static final int SHORT_VIEWS = 16;

    private static final String FUNCTION = "function";
    private static final String PUBLIC = "public";

    /** The kinds of which the operator's own roles may have some. */
    private static final Set<String> GRANTED = Set.of(FUNCTION, SchemaDefinitions.PRIVILEGE);

    /** The privileges that docs/run/database.md lets operators revoke from tenant admins. */
    private static final Set<String> REVOCABLE =
            Set.of(
                    "DELETE on broker.key",
                    "DELETE on broker.subject_grant",
                    "DELETE on broker.blocked_subject",
                    "DELETE on broker.access_rule",
                    "DELETE on broker.access_approver");

    /** The roles' names in the manifest, in the order of {@link Roles#names}. */
    private static final List<String> SYMBOLS =
            List.of("owner", "app", "admin", "tenant_admin", "auditor", "console");

    private static final Pattern QUOTED = Pattern.compile("'([a-z_][a-z0-9_]*)'");
    private static final CanonicalForm FORM = new CanonicalForm("mintmark schema 1");

    private static final String KNOWN_ROLES =
            "SELECT rolname FROM pg_catalog.pg_roles WHERE rolname = ANY (?)";

    private static final String OWNER =
            "SELECT pg_get_userbyid(nspowner) FROM pg_catalog.pg_namespace WHERE nspname ="
                    + " 'broker'";

    private final Connection connection;
    private final Roles roles;

    static final String OLDER = "15";
    static final String NEWER = "16";

    /**
     * @param connection in a transaction with a pinned {@code search_path}
     */
    public SchemaManifest(Connection connection, Roles roles) {
        this.connection = connection;
        this.roles = roles;
    }

    /** The manifest of this release, by kind and name of the objects. */
    static SortedMap<String, ManifestEntry> ofThisRelease() {
        try (InputStream in = SchemaManifest.class.getResourceAsStream(RESOURCE)) {
            String text =
                    new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            SortedMap<String, ManifestEntry> entries = new TreeMap<>();
            text.lines()
                    .forEach(line -> {
                        String[] parts = line.split("\t", -1);
                        entries.put(
                                parts[0] + "\t" + parts[1],
                                ManifestEntry.parse(parts[2], parts[3], parts[4]));
                    });
            return entries;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "a resource file of this release can't be read; reinstall Mintmark", e);
        }
    }

    /** The kind of this server. */
    String server() throws SQLException {
        return connection.getMetaData().getDatabaseMajorVersion() < SHORT_VIEWS ? OLDER : NEWER;
    }

    /**
     * Names the objects that aren't those of this release, that are missing, and that are no
     * release's. A schema of another version can't be compared, which is a difference too.
     */
    public void differences(Consumer<String> each) throws SQLException {
        int version = version();
        if (version == SchemaVersion.OURS) {
            compare(SchemaDefinitions.ALL, each);
        } else {
            each.accept(
                    "The schema has version %d, but this release verifies only version %d; verify with the release that made the schema"
                            .formatted(version, SchemaVersion.OURS));
        }
    }

    /**
     * Tells the differences of policies and privileges, which decide who sees and writes what; none
     * for a schema of another version.
     */
    void differencesOfRights(Consumer<String> each) throws SQLException {
        if (version() == SchemaVersion.OURS) {
            compare(SchemaDefinitions.RIGHTS, each);
        }
    }

    private int version() throws SQLException {
        return SchemaVersion.of(connection).map(SchemaVersion::version).orElse(0);
    }

    private void compare(Map<String, String> kinds, Consumer<String> each) throws SQLException {
        SortedMap<String, ManifestEntry> expected = ofThisRelease();
        expected.keySet().removeIf(key -> !kinds.containsKey(kind(key)));
        Set<String> seen = new HashSet<>();
        Map<String, String> actual = actualRoles();
        String server = server();
        SchemaDefinitions.read(
                connection,
                kinds.values(),
                found -> {
                    if (isOperatorsOwn(found, actual)) {
                        return;
                    }
                    String key = key(found);
                    ManifestEntry entry = expected.get(key);
                    seen.add(key);
                    if (entry == null) {
                        each.accept(named(key) + " isn't part of this release");
                    } else if (!fits(found, entry, server, actual)) {
                        each.accept(named(key) + " differs from this release");
                    }
                });
        expected.keySet().stream()
                .filter(key -> !seen.contains(key))
                .forEach(key -> each.accept(named(key) + " is missing"));
    }

    /** The manifest that this database would have, for servers of its kind. */
    SortedMap<String, ManifestEntry> made() throws SQLException {
        Map<String, String> actual = actualRoles();
        Map<String, String> symbols = new LinkedHashMap<>();
        actual.forEach((symbol, role) -> symbols.put(role, symbol));
        SortedMap<String, ManifestEntry> made = new TreeMap<>();
        SchemaDefinitions.read(
                connection,
                SchemaDefinitions.ALL.values(),
                found ->
                        made.put(
                                key(found),
                                new ManifestEntry(
                                        symbols(granted(found, actual), symbols),
                                        symbols(namedRoles(found, actual), symbols),
                                        new TreeMap<>(
                                                Map.of(ManifestEntry.ALL, hash(found, actual))))));
        return made;
    }

    private static String kind(String key) {
        return key.substring(0, key.indexOf('\t'));
    }

    /** Whether a privilege belongs to none of the broker's roles. */
    private static boolean isOperatorsOwn(Definition found, Map<String, String> actual) {
        return found.kind().equals(SchemaDefinitions.PRIVILEGE) && granted(found, actual).isEmpty();
    }

    private static List<String> symbols(List<String> names, Map<String, String> symbols) {
        return names.stream().map(name -> symbols.getOrDefault(name, name)).toList();
    }

    private static String key(Definition found) {
        return found.kind() + "\t" + found.name();
    }

    private static String named(String key) {
        String[] parts = key.split("\t", 2);
        return Character.toUpperCase(parts[0].charAt(0)) + parts[0].substring(1) + " " + parts[1];
    }

    private static boolean fits(
            Definition found, ManifestEntry entry, String server, Map<String, String> actual) {
        String owner = String.valueOf(actual.get("owner"));
        Set<String> expected = new HashSet<>(actual(entry.roles(), actual));
        Set<String> granted = new HashSet<>(granted(found, actual));
        if (GRANTED.contains(found.kind())) {
            expected.remove(owner);
        }
        if (REVOCABLE.contains(found.name())) {
            granted.add(String.valueOf(actual.get("tenant_admin")));
            granted.remove(owner);
        }
        return hash(found, actual).equals(entry.hash(server))
                && expected.equals(granted)
                && namedRoles(found, actual).equals(actual(entry.named(), actual));
    }

    private static List<String> actual(List<String> symbols, Map<String, String> actual) {
        return symbols.stream().map(symbol -> actual.getOrDefault(symbol, symbol)).toList();
    }

    /** The roles that the release grants an object to. Operators may grant it to others. */
    private static List<String> granted(Definition found, Map<String, String> actual) {
        return found.roles().stream()
                .filter(role ->
                        !GRANTED.contains(found.kind())
                                || role.equals(PUBLIC)
                                || actual.containsValue(role))
                .toList();
    }

    private static List<String> namedRoles(Definition found, Map<String, String> actual) {
        return QUOTED.matcher(found.body().orElse(""))
                .results()
                .map(literal -> literal.group(1))
                .filter(actual::containsValue)
                .toList();
    }

    private static String hash(Definition found, Map<String, String> actual) {
        String body =
                QUOTED.matcher(found.body().orElse(""))
                        .replaceAll(literal ->
                                actual.containsValue(literal.group(1))
                                        ? "role"
                                        : Matcher.quoteReplacement(literal.group()));
        return FORM.hash(Arrays.asList(found.text(), body));
    }

    /** Roles by their symbols. One that doesn't exist is the owner's, who stands in for it. */
    private Map<String, String> actualRoles() throws SQLException {
        List<String> known =
                Query.of(KNOWN_ROLES, List.of(roles.names()))
                        .list(connection, row -> row.getString(1));
        String owner = owner();
        Map<String, String> actual = new LinkedHashMap<>();
        for (int i = 0; i < SYMBOLS.size(); i++) {
            String name = roles.names()[i];
            actual.put(SYMBOLS.get(i), known.contains(name) ? name : owner);
        }
        actual.put("owner", owner);
        return actual;
    }

    private String owner() throws SQLException {
        return Query.of(OWNER).first(connection, row -> row.getString(1)).orElse("");
    }
}
