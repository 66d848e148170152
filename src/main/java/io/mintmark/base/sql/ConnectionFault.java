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

/** Why there is no connection, as the end of a sentence without names or addresses. */
final class ConnectionFault {
    /** By PostgreSQL's error code. */
    private static final Map<String, String> BY_STATE =
            Map.of(
                    "28P01", "it rejects the password",
                    "28000", "it rejects the login",
                    "3D000", "it has no database of that name",
                    "42501", "the login may not connect to it",
                    "53300", "it has no free connection for the login",
                    "57P03", "it is starting or stopping");

    private static final String IN_USE = "all connections to it are in use";

    private ConnectionFault() {}

    /** The reason in a failure and its causes. */
    static String of(Throwable failure) {
        List<Throwable> causes = causes(failure);
        return causes.stream()
                .flatMap(cause -> Stream.ofNullable(byState(cause)))
                .findFirst()
                .or(() -> byCause(causes))
                .orElseGet(() ->
                        causes.stream().anyMatch(SQLException.class::isInstance)
                                ? "it refuses what it is asked for"
                                : IN_USE);
    }

    /** What an operator is told of a failure; empty where the driver's words say more. */
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
                    "its sessions lack a setting that the log's integrity depends on";
            case UnknownHostException _ -> "its host name is unknown";
            case ConnectException _ -> "nothing accepts connections at its address";
            case SocketTimeoutException _, SQLTimeoutException _ -> "it doesn't answer in time";
            case GeneralSecurityException _, SSLException _ -> "its certificate isn't trusted";
            case FileNotFoundException _, NoSuchFileException _ ->
                    "a file that its URL names can't be read";
            case IOException _ -> "the connection broke";
            case SQLException sql when isAboutTheHostName(sql) ->
                    "its certificate is for another host name";
            default -> null; // another cause may say more
        };
    }

    /** The driver has no class for it. */
    private static boolean isAboutTheHostName(SQLException failure) {
        return String.valueOf(failure.getMessage()).contains("hostnameverifier");
    }
}
