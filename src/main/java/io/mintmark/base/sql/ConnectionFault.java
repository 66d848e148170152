package io.mintmark.base.sql;

import org.jspecify.annotations.Nullable;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.file.NoSuchFileException;
import java.security.GeneralSecurityException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

import javax.net.ssl.SSLException;

/** Explains why there is no connection, as the end of a sentence without names or addresses. */
final class ConnectionFault {
    /** Explanations by PostgreSQL's error code. */
    private static final Map<String, String> BY_STATE =
            Map.of(
                    "28P01", "the server rejects the password",
                    "28000", "the server rejects the login",
                    "3D000", "the server has no database of that name",
                    "42501", "the login may not connect to the database",
                    "53300", "the server has no free connection for the login",
                    "57P03", "the server is starting or stopping");

    private static final String IN_USE = "all connections to the server are in use";

    private ConnectionFault() {}

    /** The reason for a failure, from its causes. */
    static String of(Throwable failure) {
        List<Throwable> causes = causes(failure);
        return causes.stream()
                .flatMap(cause -> Stream.ofNullable(byState(cause)))
                .findFirst()
                .or(() -> byCause(causes))
                .orElseGet(() ->
                        causes.stream().anyMatch(SQLException.class::isInstance)
                                ? "the server rejected the statement"
                                : IN_USE);
    }

    /** An explanation of a failure for operators; empty where the driver's message says more. */
    static Optional<String> detailed(Throwable failure) {
        List<Throwable> causes = causes(failure);
        Throwable innermost = causes.getLast();
        return byCause(causes)
                .map(reason ->
                        innermost instanceof SQLException || innermost.getMessage() == null
                                ? reason
                                : reason + " (" + innermost.getMessage() + ")");
    }

    private static List<Throwable> causes(Throwable failure) {
        return Stream.<@Nullable Throwable>iterate(
                        failure, Objects::nonNull, ConnectionFault::cause)
                .map(Objects::requireNonNull)
                .toList();
    }

    private static @Nullable Throwable cause(@Nullable Throwable failure) {
        return failure == null ? null : failure.getCause();
    }

    private static @Nullable String byState(Throwable cause) {
        return cause instanceof SQLException sql && sql.getSQLState() != null
                ? BY_STATE.get(sql.getSQLState())
                : null;
    }

    /** The innermost cause knows most. */
    private static Optional<String> byCause(List<Throwable> causes) {
        return causes.reversed().stream()
                .flatMap(cause -> Stream.ofNullable(byClass(cause)))
                .findFirst();
    }

    private static @Nullable String byClass(Throwable cause) {
        return switch (cause) {
            case ServiceSession.Refused _ ->
                    "the sessions lack a setting that keeps the log intact";
            case UnknownHostException _ -> "the server's host name is unknown";
            case ConnectException _ -> "nothing accepts connections at the server's address";
            case SocketTimeoutException _, SQLTimeoutException _ ->
                    "the server doesn't respond in time";
            case GeneralSecurityException _, SSLException _ ->
                    "the server's certificate isn't trusted";
            case FileNotFoundException _, NoSuchFileException _ ->
                    "a file that the database URL names can't be read";
            case IOException _ -> "the connection was lost";
            case SQLException sql when isAboutTheHostName(sql) ->
                    "the server's certificate is for another host name";
            default -> null; // another cause may say more
        };
    }

    /** The driver has no class for it. */
    private static boolean isAboutTheHostName(SQLException failure) {
        return String.valueOf(failure.getMessage()).contains("hostnameverifier");
    }
}
