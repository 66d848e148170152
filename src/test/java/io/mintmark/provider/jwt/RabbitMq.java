package io.mintmark.provider.jwt;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A real RabbitMQ: the virtual hosts {@code shop} and {@code other}, each with the exchange and the
 * queue {@code orders}, and in {@code shop} another queue.
 */
final class RabbitMq implements AutoCloseable {
    private static final Path PROGRAMS = Path.of("/usr/lib/rabbitmq/bin");
    private static final Duration TIMEOUT = Eventually.PATIENCE;

    private static final String DEFINITIONS =
            """
            {"vhosts": [{"name": "shop"}, {"name": "other"}],
             "exchanges": [
                {"vhost": "shop", "name": "orders", "type": "fanout", "durable": true, "auto_delete": false, "internal": false, "arguments": {}}],
             "queues": [
                {"vhost": "shop", "name": "orders", "durable": true, "auto_delete": false, "arguments": {}},
                {"vhost": "shop", "name": "salaries", "durable": true, "auto_delete": false, "arguments": {}}],
             "bindings": [
                {"vhost": "shop", "source": "orders", "destination": "orders", "destination_type": "queue", "routing_key": "", "arguments": {}}]}
            """;

    private final Path work;
    private final int port = RunningBroker.freePort();
    private final Process names;
    private final Process server;

    /** How a command ended. */
    record Ran(int status, String said) {}

    /**
     * Starts it and waits until it is ready.
     *
     * @param configuration lines of {@code rabbitmq.conf}
     */
    RabbitMq(Path work, String configuration) throws Exception {
        this.work = work;
        if (!Files.isExecutable(PROGRAMS.resolve("rabbitmq-server"))) {
            throw new AssertionError(
                    "RabbitMQ must be installed (Debian: rabbitmq-server, amqp-tools); .ci/rabbitmq"
                            + " does that.");
        }
        Files.writeString(work.resolve("definitions.json"), DEFINITIONS);
        Files.writeString(work.resolve("plugins"), "[rabbitmq_auth_backend_oauth2].\n");
        Files.writeString(
                work.resolve("rabbitmq.conf"),
                """
                listeners.tcp.1 = 127.0.0.1:%d
                load_definitions = %s
                %s
                """
                        .formatted(port, work.resolve("definitions.json"), configuration));
        int naming = RunningBroker.freePort();
        names = start("epmd.log", Map.of(), "epmd", "-port", Integer.toString(naming));
        server =
                start(
                        "rabbitmq.log",
                        environment(naming),
                        PROGRAMS.resolve("rabbitmq-server").toString());
        Eventually.holds(
                TIMEOUT,
                () -> {
                    if (!server.isAlive()) {
                        throw new AssertionError("RabbitMQ doesn't start: " + log());
                    }
                    return log().contains("Server startup complete");
                });
    }

    /** With nothing of the installation's own, and nothing beyond this machine. */
    private Map<String, String> environment(int naming) {
        return Map.ofEntries(
                Map.entry("HOME", work.toString()),
                Map.entry("ERL_EPMD_PORT", Integer.toString(naming)),
                Map.entry("RABBITMQ_CONF_ENV_FILE", "/dev/null"),
                Map.entry("RABBITMQ_CONFIG_FILE", work.resolve("rabbitmq.conf").toString()),
                Map.entry("RABBITMQ_ENABLED_PLUGINS_FILE", work.resolve("plugins").toString()),
                Map.entry("RABBITMQ_MNESIA_BASE", work.resolve("mnesia").toString()),
                Map.entry("RABBITMQ_LOG_BASE", work.toString()),
                Map.entry("RABBITMQ_LOGS", "-"),
                Map.entry("RABBITMQ_NODENAME", "it@localhost"),
                Map.entry("RABBITMQ_DIST_PORT", Integer.toString(RunningBroker.freePort())),
                Map.entry(
                        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
                        "-kernel inet_dist_use_interface {127,0,0,1}"));
    }

    private Process start(String log, Map<String, String> environment, String... command)
            throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(work.resolve(log).toFile());
        builder.environment().put("ERL_EPMD_ADDRESS", "127.0.0.1");
        builder.environment().putAll(environment);
        return builder.start();
    }

    String log() {
        return Unchecked.call(() -> Files.readString(work.resolve("rabbitmq.log")));
    }

    /** Runs one of Debian's amqp-tools with a token as the password. */
    Ran with(String token, String vhost, String tool, String... arguments) throws Exception {
        Process process = process(token, vhost, tool, arguments);
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(process.waitFor(), said);
    }

    /** The same, without waiting for its end. */
    Process process(String token, String vhost, String tool, String... arguments)
            throws IOException {
        List<String> line =
                new ArrayList<>(
                        List.of(
                                tool,
                                "--server=127.0.0.1",
                                "--port=" + port,
                                "--vhost=" + vhost,
                                "--username=mintmark",
                                "--password=" + token));
        line.addAll(List.of(arguments));
        return new ProcessBuilder(line).redirectErrorStream(true).start();
    }

    @Override
    public void close() {
        List<ProcessHandle> all = new ArrayList<>(server.descendants().toList());
        all.add(server.toHandle());
        all.add(names.toHandle());
        all.forEach(ProcessHandle::destroyForcibly);
        all.forEach(one -> one.onExit().join());
    }
}
