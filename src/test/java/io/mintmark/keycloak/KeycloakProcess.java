package io.mintmark.keycloak;

import io.mintmark.Unchecked;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Keycloak's distribution, started in development mode on a loopback port, with a database in files
 * of its own, so that it knows its realms again after a restart. It ends with this JVM, however
 * that ends.
 */
final class KeycloakProcess {
    /**
     * For the exchange of tokens from elsewhere, which Keycloak calls a preview, and the
     * permissions that it goes by, which are deprecated.
     */
    private static final String FEATURES =
            "token-exchange,admin-fine-grained-authz:v1,jwt-authorization-grant";

    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final Duration PAUSE = Duration.ofMillis(200);

    /**
     * Holds Keycloak on a leash: standard input ends when this JVM does, even by kill -9, and then
     * Keycloak is told to stop. An interrupt from the keyboard reaches this shell too, and must not
     * end it before that.
     */
    private static final String LEASH =
            """
            trap '' INT HUP
            "$@" < /dev/null &
            cat > /dev/null
            kill $!
            wait
            """;

    private final Process process;
    private final Path log;

    private KeycloakProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Has the next start begin with an empty database and log. */
    static void forget(Path home) {
        try {
            Files.deleteIfExists(home.resolve("data/h2/keycloakdb.mv.db"));
            Files.deleteIfExists(log(home));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path log(Path home) {
        return home.resolveSibling("keycloak.log");
    }

    /**
     * Starts Keycloak and returns at once.
     *
     * @param home where the distribution was unpacked; the log is appended to next to it
     * @param url plain http, a loopback address and a port
     * @param environment further variables, such as the first administrator's
     */
    static KeycloakProcess start(Path home, URI url, Map<String, String> environment) {
        Path log = log(home);
        var builder =
                new ProcessBuilder(
                        "sh",
                        "-c",
                        LEASH,
                        "sh",
                        home.resolve("bin/kc.sh").toString(),
                        "start-dev",
                        "--hostname=" + url,
                        "--http-host=" + url.getHost(),
                        "--http-port=" + url.getPort(),
                        "--db=dev-file",
                        "--features=" + FEATURES);
        builder.environment().putAll(environment);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("JAVA_OPTS_KC_HEAP", "-Xms64m -Xmx512m");
        // most of its time it starts, and that takes half as long without the optimising compiler
        builder.environment().put("JAVA_OPTS_APPEND", "-XX:TieredStopAtLevel=1");
        builder.redirectErrorStream(true).redirectOutput(Redirect.appendTo(log.toFile()));
        return Unchecked.call(() -> new KeycloakProcess(builder.start(), log));
    }

    /**
     * Waits until it is ready.
     *
     * @throws IllegalStateException if it ends before that, or isn't ready after five minutes
     */
    void await(BooleanSupplier ready) {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (!ready.getAsBoolean()) {
            if (!process.isAlive() || System.nanoTime() > end) {
                throw new IllegalStateException("Keycloak doesn't start; see " + log);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    /** Stops it as an operator would, and waits until it is gone. */
    void stop() {
        Unchecked.run(() -> {
            process.getOutputStream().close();
            process.waitFor();
        });
    }
}
