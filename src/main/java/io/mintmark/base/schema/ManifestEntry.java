package io.mintmark.base.schema;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * An object of the manifest.
 *
 * @param roles that it applies to, by their symbols
 * @param named roles that the body of a function names, in its order, by their symbols
 * @param hashes by the servers that print the definition in that way; {@code "*"} stands for all
 */
record ManifestEntry(List<String> roles, List<String> named, SortedMap<String, String> hashes) {
    static final String ALL = "*";
    private static final String NONE = "-";

    static ManifestEntry parse(String roles, String named, String hashes) {
        SortedMap<String, String> all = new TreeMap<>();
        for (String hash : hashes.split(" ", -1)) {
            int colon = hash.indexOf(':');
            all.put(colon < 0 ? ALL : hash.substring(0, colon), hash.substring(colon + 1));
        }
        return new ManifestEntry(list(roles), list(named), all);
    }

    private static List<String> list(String text) {
        return text.equals(NONE) ? List.of() : List.of(text.split(",", -1));
    }

    @Nullable String hash(String server) {
        return hashes.getOrDefault(server, hashes.get(ALL));
    }

    /** Adds the hash of another kind of server. */
    ManifestEntry with(String server, ManifestEntry other) {
        SortedMap<String, String> all = new TreeMap<>();
        for (String each : List.of(SchemaManifest.OLDER, SchemaManifest.NEWER)) {
            String hash = each.equals(server) ? other.hash(ALL) : hash(each);
            if (hash != null) {
                all.put(each, hash);
            }
        }
        boolean same = all.size() == 2 && Set.copyOf(all.values()).size() == 1;
        return new ManifestEntry(
                other.roles,
                other.named,
                same ? new TreeMap<>(Map.of(ALL, all.get(SchemaManifest.OLDER))) : all);
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
