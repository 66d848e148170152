package io.mintmark.base.sql;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Sessions at one database. One whose statements left nothing behind serves again, whether or not
 * they failed: in a new one, the functions of the schema have to be compiled first, which takes
 * longer than most statements.
 */
public final class KeptSessions implements AutoCloseable {
    /** Statements that change their session, at the beginning of a text or after another one. */
    private static final Pattern CHANGES_ITS_SESSION =
            Pattern.compile(
                    "(?i)(^|;)\\s*(SET|RESET|BEGIN|START|PREPARE|DECLARE|LISTEN|LOAD|CREATE TEMP)");

    /** Functions that do, wherever they are called. */
    private static final Pattern CALLS_WHAT_CHANGES_ITS_SESSION =
            Pattern.compile("(?i)set_config|advisory");

    /** Statements after which new sessions begin otherwise than those that are kept. */
    private static final Pattern CHANGES_NEW_SESSIONS =
            Pattern.compile("(?i)ALTER (ROLE|USER|DATABASE)");

    /** The body of a function or a block, whose words are of another language. */
    private static final Pattern BODY = Pattern.compile("(?s)(\\$\\w*\\$).*?\\1");

    private final String url;
    private final Map<String, Deque<Connection>> idle = new HashMap<>();

    /** What is done in a session. */
    public interface Use<T> {
        T in(Connection session) throws SQLException;
    }

    KeptSessions(String url) {
        this.url = url;
    }

    /** A new one, which is the caller's. */
    Connection open(String user, String password) throws SQLException {
        return DriverManager.getConnection(url, user, password);
    }

    /**
     * Runs statements, each committed by itself: one that fails leaves nothing.
     *
     * @param sql all of them
     */
    <T> T use(String user, String password, String sql, Use<T> use) throws SQLException {
        Connection session = take(user, password);
        try {
            return use.in(session);
        } finally {
            if (!session.isClosed() && session.getAutoCommit() && !leavesSomething(sql)) {
                keep(user, session);
            } else {
                session.close();
            }
            if (CHANGES_NEW_SESSIONS.matcher(sql).find()) {
                close();
            }
        }
    }

    private static boolean leavesSomething(String sql) {
        return CHANGES_ITS_SESSION.matcher(BODY.matcher(sql).replaceAll("")).find()
                || CALLS_WHAT_CHANGES_ITS_SESSION.matcher(sql).find()
                || CHANGES_NEW_SESSIONS.matcher(sql).find();
    }

    /** Runs statements in a transaction that is rolled back with all that it set. */
    <T> T rolledBack(String user, String password, Use<T> use) throws SQLException {
        Connection session = take(user, password);
        boolean kept = false;
        try {
            session.setAutoCommit(false);
            try {
                return use.in(session);
            } finally {
                session.rollback();
                session.setAutoCommit(true);
                kept = true;
            }
        } finally {
            if (kept) {
                keep(user, session);
            } else {
                session.close();
            }
        }
    }

    private Connection take(String user, String password) throws SQLException {
        for (Connection kept = kept(user); kept != null; kept = kept(user)) {
            if (kept.isValid(1)) {
                return kept;
            }
            kept.close();
        }
        return open(user, password);
    }

    private synchronized @Nullable Connection kept(String user) {
        Deque<Connection> sessions = idle.get(user);
        return sessions == null ? null : sessions.poll();
    }

    private synchronized void keep(String user, Connection session) {
        idle.computeIfAbsent(user, _ -> new ArrayDeque<>()).push(session);
    }

    /** Ends the idle sessions. */
    @Override
    public synchronized void close() throws SQLException {
        for (Deque<Connection> sessions : idle.values()) {
            for (Connection session : sessions) {
                session.close();
            }
        }
        idle.clear();
    }
}
