package io.mintmark.base.schema;

import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.schema.SchemaDefinitions.Definition;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.Roles;

import org.jspecify.annotations.Nullable;

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
import java.util.stream.Collectors;

/**
 * What the schema of this release consists of: a hash for each object. A test makes the resource
 * from a database that was migrated just now, and says with what command to rewrite it.
 */
public final class SchemaManifest {
    static final String RESOURCE = "/schema-manifest.tsv";

    /** From this version on servers print views with no more qualifiers than are needed. */
    private static final int SHORT_VIEWS = 16;

    private static final String NONE = "-";
    private static final String FUNCTION = "function";
    private static final String PUBLIC = "public";

    /** What roles are called in the manifest, in the order of {@link Roles#names}. */
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

    /**
     * An object of the manifest.
     *
     * @param roles that it applies to, by their symbols
     * @param named roles that the body of a function names, in its order, by their symbols
     * @param hashes by the servers that print the definition in that way; {@code "*"} stands for
     *     all
     */
    record Entry(List<String> roles, List<String> named, SortedMap<String, String> hashes) {
        static final String ALL = "*";

        static Entry parse(String roles, String named, String hashes) {
            SortedMap<String, String> all = new TreeMap<>();
            for (String hash : hashes.split(" ", -1)) {
                int colon = hash.indexOf(':');
                all.put(colon < 0 ? ALL : hash.substring(0, colon), hash.substring(colon + 1));
            }
            return new Entry(list(roles), list(named), all);
        }

        private static List<String> list(String text) {
            return text.equals(NONE) ? List.of() : List.of(text.split(",", -1));
        }

        @Nullable String hash(String server) {
            return hashes.getOrDefault(server, hashes.get(ALL));
        }

        /** Adds another server's hash. */
        Entry with(String server, Entry other) {
            SortedMap<String, String> all = new TreeMap<>();
            for (String each : List.of(OLDER, NEWER)) {
                String hash = each.equals(server) ? other.hash(ALL) : hash(each);
                if (hash != null) {
                    all.put(each, hash);
                }
            }
            boolean same = all.size() == 2 && Set.copyOf(all.values()).size() == 1;
            return new Entry(
                    other.roles,
                    other.named,
                    same ? new TreeMap<>(Map.of(ALL, all.get(OLDER))) : all);
        }

        @Override
        public String toString() {
            return "%s\t%s\t%s"
                    .formatted(
                            text(roles),
                            text(named),
                            hashes.entrySet().stream()
                                    .map(hash ->
                                            hash.getKey().equals(ALL)
                                                    ? hash.getValue()
                                                    : hash.getKey() + ":" + hash.getValue())
                                    .collect(Collectors.joining(" ")));
        }

        private static String text(List<String> names) {
            return names.isEmpty() ? NONE : String.join(",", names);
        }
    }

    private static final String OLDER = "15";
    private static final String NEWER = "16";

    /**
     * @param connection in a transaction with a pinned {@code search_path}
     */
    public SchemaManifest(Connection connection, Roles roles) {
        this.connection = connection;
        this.roles = roles;
    }

    /** That of this release, by kind and name of the objects. */
    static SortedMap<String, Entry> ofThisRelease() {
        try (InputStream in = SchemaManifest.class.getResourceAsStream(RESOURCE)) {
            String text =
                    new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            SortedMap<String, Entry> entries = new TreeMap<>();
            text.lines()
                    .forEach(line -> {
                        String[] parts = line.split("\t", -1);
                        entries.put(
                                parts[0] + "\t" + parts[1],
                                Entry.parse(parts[2], parts[3], parts[4]));
                    });
            return entries;
        } catch (IOException e) {
            throw new UncheckedIOException("a resource of the program can't be read", e);
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
        int version = SchemaVersion.of(connection).map(SchemaVersion::version).orElse(0);
        if (version == SchemaVersion.OURS) {
            compare(each);
        } else {
            each.accept(
                    "The schema has version %d, but this release verifies only version %d; use the schema's release"
                            .formatted(version, SchemaVersion.OURS));
        }
    }

    private void compare(Consumer<String> each) throws SQLException {
        SortedMap<String, Entry> expected = ofThisRelease();
        Set<String> seen = new HashSet<>();
        Map<String, String> actual = actualRoles();
        String server = server();
        SchemaDefinitions.read(
                connection,
                found -> {
                    String key = key(found);
                    Entry entry = expected.get(key);
                    seen.add(key);
                    if (entry == null) {
                        each.accept(named(key) + " isn't of this release");
                    } else if (!fits(found, entry, server, actual)) {
                        each.accept(named(key) + " differs from this release");
                    }
                });
        expected.keySet().stream()
                .filter(key -> !seen.contains(key))
                .forEach(key -> each.accept(named(key) + " is missing"));
    }

    /** The manifest that this database would have, for servers of its kind. */
    SortedMap<String, Entry> made() throws SQLException {
        Map<String, String> actual = actualRoles();
        Map<String, String> symbols = new LinkedHashMap<>();
        actual.forEach((symbol, role) -> symbols.put(role, symbol));
        SortedMap<String, Entry> made = new TreeMap<>();
        SchemaDefinitions.read(
                connection,
                found ->
                        made.put(
                                key(found),
                                new Entry(
                                        symbols(granted(found, actual), symbols),
                                        symbols(namedRoles(found, actual), symbols),
                                        new TreeMap<>(Map.of(Entry.ALL, hash(found, actual))))));
        return made;
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
            Definition found, Entry entry, String server, Map<String, String> actual) {
        String owner = String.valueOf(actual.get("owner"));
        Set<String> expected = new HashSet<>(actual(entry.roles(), actual));
        if (found.kind().equals(FUNCTION)) {
            expected.remove(owner);
        }
        return hash(found, actual).equals(entry.hash(server))
                && expected.equals(Set.copyOf(granted(found, actual)))
                && namedRoles(found, actual).equals(actual(entry.named(), actual));
    }

    private static List<String> actual(List<String> symbols, Map<String, String> actual) {
        return symbols.stream().map(symbol -> actual.getOrDefault(symbol, symbol)).toList();
    }

    /** Whom an object is for. Who else may call a function is the operator's business. */
    private static List<String> granted(Definition found, Map<String, String> actual) {
        return found.roles().stream()
                .filter(role ->
                        !found.kind().equals(FUNCTION)
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
