package io.mintmark.postgres;

import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.AutoSave;
import org.postgresql.jdbc.PreferQueryMode;

import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where a database is and as whom to log in.
 *
 * @param url {@code jdbc:postgresql:…}
 * @param password may be needless, as with certificates or peer authentication
 */
public record DatabaseLogin(String url, String username, Optional<String> password) {
    private static final int CONNECTING_SECONDS = 10;

    /**
     * The one place that connections come from. What the address says of the session counts only
     * where we say nothing of it, so that no address can make commits less durable.
     *
     * @param application the name in PostgreSQL's list of sessions
     * @param options settings of the session, {@code -c name=value}
     * @throws DatabaseUnfit if the address isn't one
     */
    PGSimpleDataSource source(String application, String options) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        try {
            source.setUrl(url);
        } catch (IllegalArgumentException e) {
            throw new DatabaseUnfit("the PostgreSQL driver doesn't understand the address");
        }
        source.setUser(username);
        password.ifPresent(source::setPassword);
        source.setApplicationName(application);
        source.setOptions(
                Stream.of(Optional.ofNullable(source.getOptions()), Optional.of(options))
                        .flatMap(Optional::stream)
                        .collect(Collectors.joining(" ")));
        source.setConnectTimeout(CONNECTING_SECONDS);
        source.setLoginTimeout(CONNECTING_SECONDS);
        source.setTcpKeepAlive(true);
        // what CommitThenQuery and single statements rely on, whatever the address says
        source.setPreferQueryMode(PreferQueryMode.EXTENDED);
        source.setAutosave(AutoSave.NEVER);
        return source;
    }

    @Override
    public String toString() {
        return "login of '%s'".formatted(username);
    }
}
