package io.mintmark.provider.githubapp;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.provider.Settings;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The access that a key asks for. Without repositories or permissions GitHub gives all that the
 * installation has, so a key must name both.
 *
 * @param all whether the key asks for all repositories of the installation
 */
record Access(
        List<String> repositories,
        List<String> repositoryIds,
        boolean all,
        NavigableMap<String, String> permissions) {
    /** Each repository makes GitHub's answer longer by several kilobytes. */
    static final int MOST_REPOSITORIES = 50;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,100}");
    private static final Pattern ID = Pattern.compile("[0-9]{1,18}");
    private static final Pattern PERMISSION = Pattern.compile("[a-z][a-z_]{0,63}");
    private static final Set<String> LEVELS = Set.of("read", "write", "admin");

    static Access of(Settings key) {
        List<String> repositories = list(key, "repositories", NAME, "a repository name");
        List<String> ids = list(key, "repository_ids", ID, "a repository id");
        boolean all = key.flag("all_repositories", false);
        int ways = (repositories.isEmpty() ? 0 : 1) + (ids.isEmpty() ? 0 : 1) + (all ? 1 : 0);
        if (ways != 1) {
            throw key.unusable(
                    "repositories",
                    "or 'repository_ids' or 'all_repositories' must be set, but only one of them");
        }
        NavigableMap<String, String> permissions = key.textsByName("permissions");
        if (permissions.isEmpty()) {
            throw key.unusable("permissions", "is missing");
        }
        permissions.forEach((name, level) -> {
            if (!PERMISSION.matcher(name).matches() || !LEVELS.contains(level)) {
                throw key.unusable(
                        "permissions",
                        "has the level '%s' for '%s'; it must be read, write or admin"
                                .formatted(level, name));
            }
        });
        return new Access(repositories, ids, all, permissions);
    }

    List<String> targets() {
        List<String> targets = new ArrayList<>();
        repositories.forEach(name -> targets.add("repository:" + name));
        repositoryIds.forEach(id -> targets.add("repository_id:" + id));
        if (all) {
            targets.add("all_repositories");
        }
        permissions.forEach((name, level) -> targets.add("permission:" + name + ":" + level));
        return targets;
    }

    /** The body of the request for a token. */
    ObjectNode request() {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (!repositories.isEmpty()) {
            repositories.forEach(body.putArray("repositories")::add);
        }
        if (!repositoryIds.isEmpty()) {
            var array = body.putArray("repository_ids");
            repositoryIds.forEach(id -> array.add(Long.parseLong(id)));
        }
        permissions.forEach(body.putObject("permissions")::put);
        return body;
    }

    private static List<String> list(Settings key, String name, Pattern form, String what) {
        List<String> texts = key.texts(name);
        if (texts.size() > MOST_REPOSITORIES) {
            throw key.unusable(
                    name,
                    "has %d elements; the maximum is %d"
                            .formatted(texts.size(), MOST_REPOSITORIES));
        }
        texts.stream()
                .filter(text -> !form.matcher(text).matches())
                .findFirst()
                .ifPresent(text -> {
                    throw key.unusable(name, "has '%s', which is not %s".formatted(text, what));
                });
        return texts;
    }
}
