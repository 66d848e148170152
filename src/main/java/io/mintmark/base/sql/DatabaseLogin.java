package io.mintmark.base.sql;

import org.postgresql.jdbc.AutoSave;
import org.postgresql.jdbc.PreferQueryMode;

import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where a database is and as whom to log in.
 *
 * @param url {@code jdbc:postgresql:…}
 * @param password asked for before each connection; empty where none is needed, as with
 *     certificates or peer authentication
 * @param snapshot the exported snapshot that audit connections read; empty for one of their own
 */
public record DatabaseLogin(
        String url,
        String username,
        Supplier<Optional<String>> password,
        Optional<String> snapshot) {
    private static final int CONNECTING_SECONDS = 10;

    /**
     * For the login of a command, which has no second attempt. A login takes half a second of CPU
     * time in a JVM that has just started, so many times that where processors are busy.
     */
    private static final int LOGIN_SECONDS = 60;

    /** A login whose audit connections take a snapshot of their own. */
    public DatabaseLogin(String url, String username, Supplier<Optional<String>> password) {
        this(url, username, password, Optional.empty());
    }

    /**
     * Unqualified names are PostgreSQL's own, whatever search path the database's owner configures
     * for a login.
     */
    static final String SEARCH_PATH = "pg_catalog,pg_temp";

    /**
     * The settings of every session. Times are UTC, whatever time zone the server's administrator
     * chose. Just-in-time compilation is off, because each statement ends sooner than its
     * compilation would.
     */
    private static final String EVERYWHERE =
            "-c search_path=%s -c TimeZone=UTC -c jit=off ".formatted(SEARCH_PATH);

    /**
     * The only source of connections. Settings in the URL never override ours, so that no URL can
     * make commits less durable.
     *
     * @param application the name in PostgreSQL's list of sessions
     * @param options settings of the session, {@code -c name=value}
     * @throws DatabaseUnfit if the URL is invalid
     */
    public LoginSource source(String application, String options) {
        LoginSource source = new LoginSource(this);
        try {
            source.setUrl(url);
        } catch (IllegalArgumentException e) {
            throw new DatabaseUnfit("the PostgreSQL driver can't parse the URL");
        }
        source.setUser(username);
        source.setApplicationName(application);
        source.setOptions(
                Stream.of(
                                Optional.ofNullable(source.getOptions()),
                                Optional.of(EVERYWHERE + options))
                        .flatMap(Optional::stream)
                        .collect(Collectors.joining(" ")));
        source.setConnectTimeout(CONNECTING_SECONDS);
        source.limitLogin(LOGIN_SECONDS);
        source.setTcpKeepAlive(true);
        // CommitThenQuery and single statements rely on it, whatever the URL says
        source.setPreferQueryMode(PreferQueryMode.EXTENDED);
        source.setAutosave(AutoSave.NEVER);
        return source;
    }

    @Override
    public String toString() {
        return "login of '%s'".formatted(username);
    }
}
