package io.mintmark.kubernetes;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Authority;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.PemFiles;
import io.mintmark.endtoend.RunningBroker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A real kube-apiserver with an etcd of its own, as kubeadm configures them in what matters. */
final class KubeApiServer implements AutoCloseable {
    /** A folder with {@code kube-apiserver}. */
    static final String HOME = "kube.home";

    /** The issuer of a cluster that was set up without another. */
    static final String STOCK_ISSUER = "https://kubernetes.default.svc.cluster.local";

    /** The address in the documents. */
    static final String DOCUMENTED_URL = "https://kubernetes.acme.example:6443";

    private static final String ADMIN = "admin-of-test";
    private static final Duration TIMEOUT = Eventually.PATIENCE;

    private final Path work;
    private final int port = RunningBroker.freePort();
    private final Process etcd;
    private final Process server;

    /** How a command ended. */
    record Ran(int status, String said) {
        /** What it said, if it worked. */
        String output() {
            if (status != 0) {
                throw new AssertionError("exit status %d: %s".formatted(status, said));
            }
            return said;
        }
    }

    /**
     * Starts it and waits until it is ready.
     *
     * @param authority of its TLS certificate
     * @param issuer of its service accounts' tokens; {@code URL} is its own address
     * @param authentication an AuthenticationConfiguration; none if empty
     */
    KubeApiServer(Path work, Authority authority, String issuer, String authentication)
            throws Exception {
        this.work = work;
        Path program = Path.of(System.getProperty(HOME, ".")).resolve("kube-apiserver");
        if (!Files.isExecutable(program)) {
            throw new AssertionError(
                    """
                    %s is not a program. Build it once (about 10 minutes; needs Go), install etcd and kubectl, and say where it is:
                        .ci/kube-apiserver FOLDER
                        apt-get install etcd-server
                        mvn test -Dtest='io/mintmark/kubernetes/*IT' -Dkube.home=FOLDER
                    """
                            .formatted(program.toAbsolutePath()));
        }
        authority.write("localhost", work.resolve("tls.crt"), work.resolve("tls.key"));
        Files.writeString(work.resolve("ca.crt"), authority.pem());
        PemFiles.rsa(work.resolve("accounts.key"));
        Files.writeString(work.resolve("tokens"), ADMIN + ",admin,1,system:masters\n");
        Files.writeString(
                work.resolve("audit-policy"),
                "{\"apiVersion\":\"audit.k8s.io/v1\",\"kind\":\"Policy\",\"rules\":[{\"level\":\"Metadata\"}]}");
        Files.writeString(work.resolve("admin.yaml"), kubeconfig("token: " + ADMIN));
        int store = RunningBroker.freePort();
        etcd = start("etcd.log", etcd(store));
        List<String> options = apiServer(program, store);
        options.add("--service-account-issuer=" + issuer.replace("URL", url()));
        if (!authentication.isEmpty()) {
            Path file = work.resolve("authentication");
            Files.writeString(file, authentication.replace(DOCUMENTED_URL, url()));
            options.add("--authentication-config=" + file);
        }
        server = start("kube-apiserver.log", options);
        awaitReady();
    }

    private List<String> etcd(int store) {
        String peers = "http://127.0.0.1:" + RunningBroker.freePort();
        String clients = "http://127.0.0.1:" + store;
        return List.of(
                "etcd",
                "--data-dir=" + work.resolve("etcd"),
                "--unsafe-no-fsync",
                "--listen-client-urls=" + clients,
                "--advertise-client-urls=" + clients,
                "--listen-peer-urls=" + peers,
                "--initial-advertise-peer-urls=" + peers,
                "--initial-cluster=default=" + peers);
    }

    private List<String> apiServer(Path program, int store) {
        return new ArrayList<>(
                List.of(
                        program.toString(),
                        "--etcd-servers=http://127.0.0.1:" + store,
                        "--bind-address=127.0.0.1",
                        "--advertise-address=192.0.2.1",
                        "--secure-port=" + port,
                        "--tls-cert-file=" + work.resolve("tls.crt"),
                        "--tls-private-key-file=" + work.resolve("tls.key"),
                        "--token-auth-file=" + work.resolve("tokens"),
                        "--service-cluster-ip-range=10.96.0.0/16",
                        "--service-account-key-file=" + work.resolve("accounts.key"),
                        "--service-account-signing-key-file=" + work.resolve("accounts.key"),
                        "--service-account-jwks-uri=" + url() + "/openid/v1/jwks",
                        "--authorization-mode=RBAC",
                        "--audit-policy-file=" + work.resolve("audit-policy"),
                        "--audit-log-path=" + work.resolve("audit.log")));
    }

    private void awaitReady() {
        Eventually.holds(
                TIMEOUT,
                () -> {
                    if (!server.isAlive() || !etcd.isAlive()) {
                        throw new AssertionError("kube-apiserver doesn't start: " + log());
                    }
                    return kubectl("get", "--raw", "/readyz").status() == 0;
                });
    }

    private String log() {
        return Unchecked.call(() -> Files.readString(work.resolve("kube-apiserver.log")));
    }

    String url() {
        return "https://localhost:" + port;
    }

    /** The audit log's lines that contain a text. */
    List<String> audited(String text) throws IOException {
        try (var lines = Files.lines(work.resolve("audit.log"))) {
            return lines.filter(line -> line.contains(text)).toList();
        }
    }

    /** A kubeconfig for this server and the namespace {@code shop}. */
    String kubeconfig(String user) {
        return """
        apiVersion: v1
        kind: Config
        clusters:
          - {name: it, cluster: {server: "%s", certificate-authority: "%s"}}
        contexts:
          - {name: it, context: {cluster: it, user: mintmark, namespace: shop}}
        current-context: it
        users:
          - name: mintmark
            user:
              %s
        """
                .formatted(url(), work.resolve("ca.crt"), user);
    }

    /** Writes a file and returns where it is. */
    String file(String name, String content) {
        return Unchecked.call(() -> Files.writeString(work.resolve(name), content).toString());
    }

    /** Runs kubectl as the cluster's administrator. */
    Ran kubectl(String... arguments) {
        List<String> line = new ArrayList<>(List.of("kubectl"));
        line.addAll(List.of(arguments));
        return asAdmin(line);
    }

    /** Runs a command as the cluster's administrator. */
    Ran asAdmin(List<String> command) {
        return run(Map.of("KUBECONFIG", work.resolve("admin.yaml").toString()), command);
    }

    /** The same for lines as documents print them. */
    void shell(String lines) {
        run(
                        Map.of("KUBECONFIG", work.resolve("admin.yaml").toString()),
                        List.of("sh", "-euc", lines))
                .output();
    }

    /** Runs kubectl with nothing but a token. */
    Ran kubectlWith(String token, String... arguments) {
        List<String> line =
                new ArrayList<>(
                        List.of(
                                "kubectl",
                                "--kubeconfig=/dev/null",
                                "--server=" + url(),
                                "--certificate-authority=" + work.resolve("ca.crt"),
                                "--token=" + token,
                                "--namespace=shop"));
        line.addAll(List.of(arguments));
        return run(Map.of(), line);
    }

    /** Runs a command in the server's folder. */
    Ran run(Map<String, String> environment, List<String> command) {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(work.toFile()).redirectErrorStream(true);
        builder.environment().putAll(environment);
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            String said =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Ran(process.waitFor(), said);
        } catch (IOException e) {
            throw new AssertionError(command.getFirst() + " must be on the PATH", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private Process start(String log, List<String> command) {
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(work.resolve(log).toFile())
                    .start();
        } catch (IOException e) {
            throw new AssertionError(
                    command.getFirst() + " must be installed (Debian: etcd-server)", e);
        }
    }

    @Override
    public void close() {
        server.destroyForcibly();
        etcd.destroyForcibly();
        server.onExit().join();
        etcd.onExit().join();
    }
}
