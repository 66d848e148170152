package io.mintmark.endtoend;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Three nodes of PostgreSQL that Patroni manages with etcd, one of them a synchronous standby, and
 * a PgBouncer that reaches the leader through HAProxy. A node's wires to etcd and to the other
 * nodes can be cut.
 */
final class PatroniCluster implements AutoCloseable {
    private static final int NODES = 3;
    private static final Duration READY = Eventually.PATIENCE;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final Path directory;
    private final int etcdPort = RunningBroker.freePort();
    private final int bouncerPort = RunningBroker.freePort();
    private final List<Process> others = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();

    PatroniCluster(Path directory) throws IOException {
        this.directory = directory;
        int peers = RunningBroker.freePort();
        others.add(
                started(
                        "etcd",
                        List.of(
                                "etcd",
                                "--data-dir",
                                directory.resolve("etcd.data").toString(),
                                "--listen-client-urls",
                                local(etcdPort),
                                "--advertise-client-urls",
                                local(etcdPort),
                                "--listen-peer-urls",
                                local(peers),
                                "--initial-advertise-peer-urls",
                                local(peers),
                                "--initial-cluster",
                                "default=" + local(peers))));
        for (int n = 0; n < NODES; n++) {
            nodes.add(new Node("node" + n));
        }
        awaitReady();
        startPooler();
    }

    /** PgBouncer finds the leader as Patroni's documentation has it, by HAProxy's checks. */
    private void startPooler() throws IOException {
        int proxy = RunningBroker.freePort();
        String servers =
                nodes.stream().map(Node::behindProxy).collect(Collectors.joining("\n", "", "\n"));
        Path proxied = directory.resolve("haproxy.cfg");
        Files.writeString(
                proxied,
                """
                defaults
                    mode tcp
                    timeout connect 1s
                    timeout client 1h
                    timeout server 1h
                listen leader
                    bind 127.0.0.1:%d
                    option httpchk GET /primary
                    http-check expect status 200
                    default-server inter 1s fall 1 rise 1 on-marked-down shutdown-sessions
                %s\
                """
                        .formatted(proxy, servers));
        others.add(started("haproxy", List.of("haproxy", "-db", "-f", proxied.toString())));
        Path users = directory.resolve("users");
        Files.writeString(users, "\"test_app\" \"\"\n");
        Path pooled = directory.resolve("pgbouncer.ini");
        Files.writeString(
                pooled,
                """
                [databases]
                postgres = host=127.0.0.1 port=%d
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = trust
                auth_file = %s
                pool_mode = transaction
                ignore_startup_parameters = extra_float_digits,options
                server_login_retry = 1
                """
                        .formatted(proxy, bouncerPort, users));
        others.add(
                started("pgbouncer", PostgresCluster.unprivileged("pgbouncer", pooled.toString())));
    }

    /** All nodes, for JDBC: whichever takes writes. */
    String url() {
        return "jdbc:postgresql://%s/postgres?targetServerType=primary"
                .formatted(
                        nodes.stream()
                                .map(node -> "127.0.0.1:" + node.port)
                                .collect(Collectors.joining(",")));
    }

    /** The leader through PgBouncer. */
    String pooledUrl() {
        return "jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0".formatted(bouncerPort);
    }

    Node leader() {
        return nodes.stream().filter(node -> node.is("leader")).findFirst().orElseThrow();
    }

    /** One that isn't the leader. */
    Node standby() {
        return nodes.stream().filter(node -> node.is("replica")).findFirst().orElseThrow();
    }

    /** Waits until another node than this one is the leader, as the others see it. */
    void awaitLeaderOtherThan(Node old) {
        Eventually.holds(
                READY, () -> nodes.stream().anyMatch(node -> node != old && node.is("leader")));
    }

    /** A planned one, to whichever standby is synchronous. */
    void switchOver() throws Exception {
        Node leader = leader();
        HttpResponse<String> answer =
                http.send(
                        HttpRequest.newBuilder(leader.rest("/switchover"))
                                .POST(
                                        BodyPublishers.ofString(
                                                "{\"leader\":\"%s\"}".formatted(leader.name)))
                                .build(),
                        BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(answer.body());
        }
    }

    /** Waits until there are a leader and two standbys that follow it, one of them synchronous. */
    void awaitReady() {
        Eventually.holds(
                READY,
                () ->
                        nodes.stream().filter(node -> node.is("leader")).count() == 1
                                && nodes.stream().filter(node -> node.is("sync_standby")).count()
                                        == 1
                                && nodes.stream().filter(node -> node.is("replica")).count() == 1);
    }

    private Process started(String name, List<String> command) throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".log").toFile()))
                .start();
    }

    private static String local(int port) {
        return "http://127.0.0.1:" + port;
    }

    @Override
    public void close() throws IOException {
        for (Node node : nodes) {
            node.close();
        }
        for (Process other : others.reversed()) {
            other.destroy();
            other.onExit().join();
        }
    }

    final class Node {
        final String name;
        private final int port = RunningBroker.freePort();
        private final int restPort = RunningBroker.freePort();
        private final CutWire toEtcd = new CutWire(etcdPort);
        private final CutWire fromOthers = new CutWire(port);
        private Process patroni;

        private Node(String name) throws IOException {
            this.name = name;
            Files.writeString(file("yml"), configuration());
            this.patroni = patroni();
        }

        private String configuration() {
            return """
            scope: mintmark
            name: %1$s
            restapi: {listen: "127.0.0.1:%2$d", connect_address: "127.0.0.1:%2$d"}
            etcd3: {proxy: "http://127.0.0.1:%3$d"}
            bootstrap:
              dcs:
                ttl: 20
                loop_wait: 1
                retry_timeout: 3
                synchronous_mode: true
                synchronous_mode_strict: true
                postgresql: {use_pg_rewind: true}
              initdb: [{encoding: UTF8}, no-sync]
            postgresql:
              listen: "127.0.0.1:%4$d"
              connect_address: "127.0.0.1:%5$d"
              data_dir: %6$s
              bin_dir: %7$s
              pgpass: %8$s
              pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
              authentication:
                superuser: {username: postgres, password: x}
                replication: {username: replicator, password: x}
              parameters: {unix_socket_directories: '', wal_log_hints: 'on'}
            """
                    .formatted(
                            name,
                            restPort,
                            toEtcd.port(),
                            port,
                            fromOthers.port(),
                            file("data"),
                            PostgresCluster.BIN,
                            file("pgpass"));
        }

        private Process patroni() throws IOException {
            return started(name, PostgresCluster.unprivileged("patroni", file("yml").toString()));
        }

        private String behindProxy() {
            return "    server %s 127.0.0.1:%d check port %d".formatted(name, port, restPort);
        }

        private Path file(String extension) {
            return directory.resolve(name + "." + extension);
        }

        private URI rest(String path) {
            return URI.create(local(restPort) + path);
        }

        /** What Patroni says of it. */
        private boolean is(String role) {
            try {
                String cluster =
                        http.send(
                                        HttpRequest.newBuilder(rest("/cluster")).build(),
                                        BodyHandlers.ofString())
                                .body();
                for (JsonNode member : JSON.readTree(cluster).path("members")) {
                    if (member.path("name").asText().equals(name)) {
                        return member.path("role").asText().equals(role)
                                && List.of("running", "streaming")
                                        .contains(member.path("state").asText());
                    }
                }
                return false;
            } catch (IOException e) {
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        PostgresCluster database() {
            return PostgresCluster.running(file("data"), port);
        }

        /** PostgreSQL and Patroni without a warning, as when the machine is gone. */
        void kill() throws IOException {
            long postmaster =
                    Long.parseLong(
                            Files.readAllLines(file("data").resolve("postmaster.pid")).getFirst());
            patroni.descendants().forEach(ProcessHandle::destroyForcibly);
            patroni.destroyForcibly();
            ProcessHandle.of(postmaster).ifPresent(ProcessHandle::destroyForcibly);
        }

        void startAgain() throws IOException {
            patroni = patroni();
        }

        /** It reaches neither etcd nor the other nodes, but clients reach it. */
        void partition() throws IOException {
            toEtcd.cut();
            fromOthers.cut();
        }

        void heal() {
            toEtcd.mend();
            fromOthers.mend();
        }

        private void close() throws IOException {
            patroni.destroy();
            patroni.onExit().join();
            toEtcd.close();
            fromOthers.close();
        }
    }
}
