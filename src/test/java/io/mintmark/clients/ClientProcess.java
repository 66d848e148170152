package io.mintmark.clients;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs the shell client, with nothing in its environment but what a test put there. */
final class ClientProcess {
    static final Path FILE = Path.of("src", "clients", "mintmark-client").toAbsolutePath();

    private static final ObjectMapper JSON = new ObjectMapper();

    private final List<String> shell;
    private Path file = FILE;
    private final Map<String, String> environment = new HashMap<>();

    /** What came of it. */
    record Ended(int exit, String out, String err) {

        /** All that it said, secrets aside. */
        String messages() {
            return exit + "\n" + err;
        }
    }

    private ClientProcess(List<String> shell) {
        this.shell = List.copyOf(shell);
        environment.put("PATH", Shell.SEARCH_PATH);
    }

    /** An identity token with these claims, for a client that doesn't look at its signature. */
    static String token(Map<String, ?> claims) {
        Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
        String payload = JSON.valueToTree(claims).toString();
        return "eyJhbGciOiJFUzI1NiJ9."
                + encoder.encodeToString(payload.getBytes(StandardCharsets.UTF_8))
                + ".c2lnbmF0dXJl";
    }

    static ClientProcess under(Shell shell) {
        return new ClientProcess(shell.command());
    }

    /** The same shell with options. */
    static ClientProcess under(Shell shell, String... options) {
        List<String> command = new ArrayList<>(shell.command());
        command.addAll(List.of(options));
        return new ClientProcess(command);
    }

    ClientProcess with(String variable, String value) {
        environment.put(variable, value);
        return this;
    }

    ClientProcess without(String variable) {
        environment.remove(variable);
        return this;
    }

    /** A copy of the client. */
    ClientProcess at(Path copy) {
        file = copy;
        return this;
    }

    /** Starts it; the caller waits. */
    Process start(String... arguments) {
        List<String> command = new ArrayList<>(shell);
        command.add(file.toString());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment().putAll(environment);
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs it to its end. */
    Ended run(String... arguments) {
        return await(start(arguments));
    }

    static Ended await(Process process) {
        var out = CompletableFuture.supplyAsync(() -> text(process.getInputStream()));
        var err = CompletableFuture.supplyAsync(() -> text(process.getErrorStream()));
        return Unchecked.call(() -> {
            if (!process.waitFor(Eventually.SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("it didn't end: " + err.join());
            }
            return new Ended(process.exitValue(), out.join(), err.join());
        });
    }

    private static String text(InputStream in) {
        try (in) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
