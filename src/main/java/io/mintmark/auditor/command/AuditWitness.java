package io.mintmark.auditor.command;

import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.auditor.witness.Witness;
import io.mintmark.auditor.witness.WitnessServer;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.thread.HelperThread;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

@Command(
        name = "witness",
        description = {
            "Cosigns the checkpoints of transparency logs that only grow (c2sp.org/tlog-witness).",
            "Prints its key, serves POST /add-checkpoint, and never cosigns two histories of a log."
        },
        mixinStandardHelpOptions = true)
public final class AuditWitness implements Callable<Integer> {
    private static final Pattern ADDRESS = Pattern.compile("(.+):([0-9]{1,5})");

    @Option(
            names = "--listen",
            paramLabel = "ADDRESS:PORT",
            required = true,
            description = "The address to listen on, without TLS.")
    private String listen = "";

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            required = true,
            description = "The logs to witness, in the format of c2sp.org/tlog-policy.")
    private @Nullable Path policy;

    @Option(
            names = "--state",
            paramLabel = "DIR",
            required = true,
            description =
                    "Directory of the witness's key and of the last head of each log that it"
                            + " cosigned. Never restore it from a backup.")
    private @Nullable Path state;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description =
                    "The name of the key that the first start makes, such as"
                            + " witness.example.com/1; by default the name of the host.")
    private @Nullable String name;

    @Override
    public Integer call() throws IOException, InterruptedException {
        InetSocketAddress address = address(listen);
        WitnessPolicy logs = WitnessPolicy.read(Objects.requireNonNull(policy));
        CountDownLatch stopped = new CountDownLatch(1);
        WitnessServer.limitThisProgram();
        try (Witness witness =
                        new Witness(
                                logs,
                                Objects.requireNonNull(state),
                                keyName(),
                                InstantSource.system());
                WitnessServer server = new WitnessServer(witness, address)) {
            System.out.println(witness.key().text());
            System.err.printf(
                    "mintmark: witness %s listens on port %d%n",
                    witness.key().name(), server.port());
            HelperThread.atShutdown("stop", stopped::countDown);
            stopped.await();
        }
        return 0;
    }

    private String keyName() throws UnknownHostException {
        String chosen = name == null ? InetAddress.getLocalHost().getHostName() : name;
        if (!NoteKey.NAME.matcher(chosen).matches()) {
            throw new CommandFailed(
                    "--name: '%s' contains white space or a plus sign; use a name such as witness.example.com/1"
                            .formatted(chosen));
        }
        return chosen;
    }

    private static InetSocketAddress address(String text) {
        Matcher parts = ADDRESS.matcher(text);
        if (parts.matches() && Integer.parseInt(parts.group(2)) <= 65_535) {
            InetSocketAddress address =
                    new InetSocketAddress(parts.group(1), Integer.parseInt(parts.group(2)));
            if (!address.isUnresolved()) {
                return address;
            }
        }
        throw new CommandFailed(
                "--listen: '%s' is not an address and port such as 127.0.0.1:8080".formatted(text));
    }
}
