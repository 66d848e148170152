package io.mintmark.config;

/**
 * The address of a PostgreSQL database, as its JDBC driver takes it. Its parameters may hold a
 * password, so they aren't printed.
 */
public record JdbcUrl(String value) {
    static final String PREFIX = "jdbc:postgresql:";

    /** How complaints describe it. */
    static final Format<JdbcUrl> FORMAT =
            Format.hidden(
                    "a PostgreSQL address such as jdbc:postgresql://localhost:5432/mintmark",
                    JdbcUrl::new);

    public JdbcUrl {
        if (!value.startsWith(PREFIX) || value.length() == PREFIX.length()) {
            throw new IllegalArgumentException("a database address must start with " + PREFIX);
        }
    }

    @Override
    public String toString() {
        int parameters = value.indexOf('?');
        return parameters < 0 ? value : value.substring(0, parameters) + "?(hidden)";
    }
}
