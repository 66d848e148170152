package io.mintmark.provider.ssh;

import io.mintmark.ReservedPorts;
import io.mintmark.endtoend.Eventually;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/** A real sshd of this machine, which trusts one CA and lets the principal deploy in. */
final class Sshd implements AutoCloseable {
    private static final String USER = System.getProperty("user.name");

    private final Path work;
    private final int port;
    private final Process server;

    /** How a command ended. */
    record Ran(int status, String said) {}

    Sshd(Path work, String caPublicKey, String... more) throws Exception {
        this.work = work;
        this.port = ReservedPorts.next();
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file("host"));
        Files.writeString(work.resolve("ca.pub"), caPublicKey + "\n");
        Files.writeString(work.resolve("principals"), "deploy\n");
        Files.writeString(
                work.resolve("config"),
                """
                Port %d
                ListenAddress 127.0.0.1
                HostKey %s
                PidFile none
                UsePAM no
                StrictModes no
                PermitRootLogin yes
                PasswordAuthentication no
                KbdInteractiveAuthentication no
                AuthorizedKeysFile none
                TrustedUserCAKeys %s
                AuthorizedPrincipalsFile %s
                %s
                """
                        .formatted(
                                port,
                                file("host"),
                                file("ca.pub"),
                                file("principals"),
                                String.join("\n", more)));
        // where Debian's sshd runs as root, it wants this directory
        if (USER.equals("root")) {
            Files.createDirectories(Path.of("/run/sshd"));
        }
        server =
                new ProcessBuilder("/usr/sbin/sshd", "-D", "-e", "-f", file("config"))
                        .redirectErrorStream(true)
                        .redirectOutput(work.resolve("log").toFile())
                        .start();
        Eventually.holds(() -> log().contains("Server listening"));
    }

    String log() {
        try {
            return Files.readString(work.resolve("log"));
        } catch (IOException e) {
            return "";
        }
    }

    /** Logs in with a key and its certificate, and runs a command. */
    Ran login(String privateKey, String certificate, String command) throws Exception {
        Path id = work.resolve("id");
        Files.deleteIfExists(id);
        Files.createFile(
                id,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(id, privateKey);
        Files.writeString(work.resolve("id-cert.pub"), certificate + "\n");
        List<String> line =
                new ArrayList<>(
                        List.of(
                                "ssh",
                                "-F",
                                "none",
                                "-p",
                                Integer.toString(port),
                                "-i",
                                file("id")));
        for (String option :
                List.of(
                        "IdentitiesOnly=yes", "IdentityAgent=none",
                        "BatchMode=yes", "StrictHostKeyChecking=no",
                        "UserKnownHostsFile=/dev/null", "LogLevel=ERROR")) {
            line.addAll(List.of("-o", option));
        }
        line.addAll(List.of(USER + "@127.0.0.1", command));
        return run(line.toArray(String[]::new));
    }

    /** Runs a program to its end. */
    Ran run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(process.waitFor(), said);
    }

    String file(String name) {
        return work.resolve(name).toString();
    }

    @Override
    public void close() {
        server.destroy();
    }
}
