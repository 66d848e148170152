package io.mintmark.provider.postgresql;

import io.mintmark.provider.MintOrder;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The agreed treatment of a role's leftovers. It is kept as the role's comment, so that it is still
 * known when the key is changed or gone. A role can't change its own comment.
 *
 * @param role that gets them if they are given away
 * @param databases in which they may be
 */
record Agreement(Leftovers leftovers, String role, List<String> databases) {
    private static final String LEFTOVERS = "leftovers=";
    private static final String ROLE = "role=";
    private static final String DATABASE = "database=";

    Agreement {
        databases = List.copyOf(databases);
    }

    /**
     * The agreement for a key. It covers the key's databases, and the one that its clients are sent
     * to.
     */
    static Agreement of(LoginKey key, PostgresSettings settings) {
        return new Agreement(
                key.leftovers(),
                key.role(),
                Stream.concat(Stream.of(settings.clientDatabase()), key.databases().stream())
                        .distinct()
                        .toList());
    }

    /**
     * Reads the agreement from a role's comment. If the comment has another form, leftovers are
     * kept.
     */
    static Agreement of(String comment) {
        Leftovers leftovers = Leftovers.KEEP;
        String role = "";
        List<String> databases = new ArrayList<>();
        for (String word : comment.split(" ", -1)) {
            if (word.startsWith(LEFTOVERS)) {
                leftovers = Leftovers.named(word.substring(LEFTOVERS.length()));
            } else if (word.startsWith(ROLE)) {
                role = decoded(word.substring(ROLE.length()));
            } else if (word.startsWith(DATABASE)) {
                databases.add(decoded(word.substring(DATABASE.length())));
            }
        }
        return new Agreement(leftovers, role, databases);
    }

    /** The comment for a role that is made for the order. */
    String comment(MintOrder order) {
        Stream<String> kept =
                leftovers == Leftovers.KEEP
                        ? Stream.of()
                        : Stream.concat(
                                Stream.of(LEFTOVERS + leftovers.word(), ROLE + encoded(role)),
                                databases.stream().map(each -> DATABASE + encoded(each)));
        return Stream.concat(
                        Stream.of(
                                "mintmark",
                                order.mintId().toString(),
                                order.tenant() + "/" + order.key()),
                        kept)
                .collect(Collectors.joining(" "));
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8);
    }

    /**
     * Decodes a name. In a comment that the broker didn't write, an undecodable name stays as it
     * is.
     */
    private static String decoded(String name) {
        try {
            return URLDecoder.decode(name, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return name;
        }
    }
}
