package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;

import java.io.FileNotFoundException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.cert.CertPathBuilderException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.stream.Stream;

import javax.net.ssl.SSLHandshakeException;

/** One sentence for each reason that the driver gives in classes and words of its own. */
class ConnectionFaultTest {
    private static PSQLException driver(String message, Exception cause) {
        return new PSQLException(message, PSQLState.CONNECTION_UNABLE_TO_CONNECT, cause);
    }

    private static Exception caused(Exception failure, Exception cause) {
        failure.initCause(cause);
        return failure;
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                Arguments.of(
                        driver("The connection attempt failed.", new UnknownHostException("db")),
                        "the server's host name is unknown (db)"),
                Arguments.of(
                        driver("Connection to db refused.", new ConnectException("refused")),
                        "nothing accepts connections at the server's address (refused)"),
                Arguments.of(
                        driver("Connection attempt failed.", new SocketTimeoutException("late")),
                        "the server doesn't respond in time (late)"),
                Arguments.of(new SQLTimeoutException("late"), "the server doesn't respond in time"),
                Arguments.of(
                        driver(
                                "SSL error: PKIX path building failed",
                                caused(
                                        new SSLHandshakeException("PKIX path building failed"),
                                        new CertPathBuilderException("no valid path"))),
                        "the server's certificate isn't trusted (no valid path)"),
                Arguments.of(
                        driver("Could not open file", new FileNotFoundException("/ca.pem")),
                        "a file that the database URL names can't be read (/ca.pem)"),
                Arguments.of(
                        new PSQLException(
                                "The hostname db could not be verified by hostnameverifier P.",
                                PSQLState.CONNECTION_FAILURE),
                        "the server's certificate is for another host name"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void a_start_a_check_and_the_log_show_the_reason_once(SQLException failure, String sentence) {
        assertEquals(sentence, DatabaseUnfit.because(failure).getMessage());
    }

    @ParameterizedTest
    @MethodSource("faults")
    void readiness_shows_it_without_names(SQLException failure, String sentence) {
        assertEquals(sentence.replaceAll(" \\(.*", ""), ConnectionFault.of(failure));
    }

    @Test
    void the_drivers_own_words_remain_where_its_cause_is_unknown() {
        SQLException failure = new PSQLException("Something else.", PSQLState.UNKNOWN_STATE);

        assertEquals("Something else.", DatabaseUnfit.because(failure).getMessage());
    }
}
