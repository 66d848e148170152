package io.mintmark.base.sql;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;
import java.util.Objects;
import java.util.stream.Stream;

/** A statement failed. */
public final class QueryFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String sqlState;
    private final boolean sent;

    /**
     * @param sqlState PostgreSQL's, if it said anything
     * @param sent whether the statement was sent at all
     */
    QueryFailed(String message, @Nullable String sqlState, boolean sent) {
        super(message);
        this.sqlState = sqlState;
        this.sent = sent;
    }

    QueryFailed(String message, @Nullable String sqlState, boolean sent, Throwable cause) {
        super(message, cause);
        this.sqlState = sqlState;
        this.sent = sent;
    }

    /** The statement will fail again: its data or its form is wrong, not the moment. */
    public boolean isRefusal() {
        return sqlState != null
                && (sqlState.startsWith("22")
                        || sqlState.startsWith("23")
                        || sqlState.startsWith("42")
                        || sqlState.startsWith("P0"));
    }

    /** Another session's lock was not released in time; the message names the session. */
    public boolean isLocked() {
        return LockWaits.LOCK_NOT_AVAILABLE.equals(sqlState);
    }

    /** Whether PostgreSQL rolled the transaction back in favour of another. */
    public boolean isConflict() {
        return "40001".equals(sqlState) || "40P01".equals(sqlState);
    }

    /** Whether the cause of a failure is that the login lacks a privilege. */
    public static boolean lacksPrivilege(Throwable failure) {
        return hasState(failure, "42501");
    }

    /** Whether the cause of a failure is a lock that was not released in time. */
    public static boolean isLocked(Throwable failure) {
        return hasState(failure, LockWaits.LOCK_NOT_AVAILABLE);
    }

    /** Whether the cause of a failure is that objects depend on what a statement drops. */
    public static boolean hasDependents(Throwable failure) {
        return hasState(failure, "2BP01");
    }

    private static boolean hasState(Throwable failure, String state) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .anyMatch(cause ->
                        cause instanceof SQLException sql && state.equals(sql.getSQLState()));
    }

    /** A row breaks a rule of its table, or the table has no partition for it. */
    public boolean isOutOfRange() {
        return "23514".equals(sqlState);
    }

    /** Whether the statement may have been executed, because the connection broke during it. */
    public boolean perhapsDone() {
        return sent
                && (sqlState == null || sqlState.startsWith("08") || sqlState.startsWith("57P"));
    }
}
