package io.mintmark.provider.postgresql;

import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.OutboundFailure.Kind;
import io.mintmark.base.outbound.ProviderWords;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.web.Calls;

import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Optional;

/** A server did not do what it was asked. */
final class TargetFailure extends Exception {
    private static final long serialVersionUID = 1L;

    /** The broker may not do this to a role. */
    static final String INSUFFICIENT_PRIVILEGE = "42501";

    /** There is no such role or parameter. */
    static final String UNDEFINED_OBJECT = "42704";

    /** A parameter can't have this value, or SET ROLE names no role. */
    static final String INVALID_PARAMETER_VALUE = "22023";

    /** A role owns objects, or has rights. */
    static final String DEPENDENT_OBJECTS = "2BP01";

    /** Another session changed the same row, or has it locked. */
    static final String INTERNAL_ERROR = "XX000";

    static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final String CANNOT_CONNECT_NOW = "57P03";
    private static final String TOO_MANY_CONNECTIONS = "53300";

    private final Reason reason;
    private final String detail;
    private final String state;
    private final boolean helpsToRetry;

    private TargetFailure(
            Reason reason,
            String detail,
            String state,
            boolean helpsToRetry,
            @Nullable Throwable cause) {
        super(detail, cause);
        this.reason = reason;
        this.detail = detail;
        this.state = state;
        this.helpsToRetry = helpsToRetry;
    }

    /** The server refused, or the connection broke. */
    static TargetFailure of(Server server, SQLException cause) {
        String state = Optional.ofNullable(cause.getSQLState()).orElse("");
        return new TargetFailure(
                reason(state),
                at(
                        server,
                        said(cause) + (state.isEmpty() ? "" : " (SQLSTATE %s)".formatted(state))),
                state,
                state.equals(CANNOT_CONNECT_NOW) || state.equals(TOO_MANY_CONNECTIONS),
                cause);
    }

    /** No connection came about. */
    static TargetFailure of(Server server, OutboundFailure cause) {
        return new TargetFailure(
                Calls.meaning(cause.kind()),
                at(server, String.valueOf(cause.getMessage())),
                "",
                cause.kind() == Kind.UNREACHABLE || cause.kind() == Kind.BUSY,
                cause);
    }

    /** The server had no more time. */
    static TargetFailure late(Server server, Throwable cause) {
        return new TargetFailure(
                Reason.PROVIDER_TIMEOUT,
                at(server, "the server didn't respond in time"),
                "",
                false,
                cause);
    }

    /** The server can't change anything. */
    static TargetFailure standby(Server server) {
        return new TargetFailure(
                Reason.PROVIDER_MISCONFIGURED, at(server, "a standby"), "25006", false, null);
    }

    /** The server answered what no PostgreSQL answers. */
    static TargetFailure unreadable(Server server) {
        return new TargetFailure(
                Reason.PROVIDER_ERROR,
                at(server, "the server's response can't be parsed"),
                "",
                false,
                null);
    }

    private static String at(Server server, String what) {
        return "%s (%s)".formatted(ProviderWords.fit(what), server.authority());
    }

    /** Message and detail without the statement, which a server may quote. */
    private static String said(SQLException cause) {
        ServerErrorMessage server =
                cause instanceof PSQLException driver ? driver.getServerErrorMessage() : null;
        if (server == null) {
            // the driver says that it failed, and what it failed with may say why
            return cause.getCause() instanceof IOException broken && broken.getMessage() != null
                    ? broken.getMessage()
                    : String.valueOf(cause.getMessage());
        }
        String detail = server.getDetail();
        return server.getMessage() + (detail == null ? "" : ": " + detail);
    }

    /**
     * Maps the conditions of PostgreSQL's documentation, appendix A, to reasons. 08004 is the
     * driver's own.
     */
    private static Reason reason(String state) {
        return switch (state) {
            case INSUFFICIENT_PRIVILEGE, "0LP01" -> Reason.PROVIDER_REJECTED;
            case UNDEFINED_OBJECT, "3D000", "25006", INVALID_PARAMETER_VALUE, "08004" ->
                    Reason.PROVIDER_MISCONFIGURED;
            case TOO_MANY_CONNECTIONS, "53400" -> Reason.PROVIDER_THROTTLED;
            case "57P01", "57P02", CANNOT_CONNECT_NOW -> Reason.PROVIDER_UNREACHABLE;
            case "57014", LOCK_NOT_AVAILABLE -> Reason.PROVIDER_TIMEOUT;
            case String other when other.startsWith("28") -> Reason.BROKER_IDENTITY_REJECTED;
            case "08P01" -> Reason.PROVIDER_ERROR;
            case String other when other.startsWith("08") -> Reason.PROVIDER_UNREACHABLE;
            case String _ -> Reason.PROVIDER_ERROR;
        };
    }

    Reason reason() {
        return reason;
    }

    String detail() {
        return detail;
    }

    /**
     * Whether the same statement can succeed later: a lock, a limit or the connection failed it.
     */
    boolean mayPass() {
        return reason == Reason.PROVIDER_TIMEOUT
                || reason == Reason.PROVIDER_UNREACHABLE
                || reason == Reason.PROVIDER_THROTTLED;
    }

    /** Whether the server refused with this SQLSTATE. */
    boolean is(String sqlState) {
        return state.equals(sqlState);
    }

    /** Whether nothing was sent, or the server has no place for it yet. */
    boolean helpsToRetry() {
        return helpsToRetry;
    }

    Failed failed() {
        return new Failed(reason, detail);
    }

    /** The failure of a COMMIT, which may have been carried out. */
    Failed inDoubt() {
        return new Failed(
                reason == Reason.PROVIDER_TIMEOUT ? reason : Reason.PROVIDER_UNREACHABLE,
                detail + "; COMMIT was sent, so the login may exist");
    }
}
