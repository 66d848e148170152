package io.mintmark.admin.check;

import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** Waits until the broker on this machine is ready, so that the next replica may be stopped. */
@Command(
        name = "wait-ready",
        description = {
            "Waits until the broker with these settings is ready; run it on the broker's machine.",
            "With --traffic, also waits until the reverse proxy sends it requests again.",
            "It reads ADMIN_HOST, ADMIN_PORT and ADMIN_TLS_CERTIFICATE_FILE."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:the broker is ready and, with --traffic, receives requests",
            "1:the broker is not ready within --timeout; one line gives the reason",
            "2:settings are wrong",
            "3:the broker is ready, but no request came within --timeout: the reverse proxy"
                    + " doesn't use this replica, or no client sends requests"
        },
        mixinStandardHelpOptions = true)
public final class WaitReady implements Callable<Integer> {
    private static final int OK = 200;
    private static final int NO_TRAFFIC = 3;
    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final String READY = "/observe/health/ready";
    private static final String METRICS = "/observe/metrics";
    private static final String REQUESTS = "mintmark_requests_total{";

    /** The reverse proxies' and monitors' own question, which proves no traffic. */
    private static final String HEALTH = "route=\"/health\"";

    private final Supplier<SettingsReader> settings;
    private final PrintStream out;

    @Option(names = "--traffic", description = "Also waits until a client's request arrives.")
    private boolean traffic;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "PT1M",
            description =
                    "How long to wait for readiness, and as long again for a request"
                            + " (default: ${DEFAULT-VALUE}).")
    private Duration timeout = Duration.ofMinutes(1);

    public WaitReady(Supplier<SettingsReader> settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
    }

    @Override
    public Integer call() throws InterruptedException {
        try (AdminPort port = new AdminPort(settings.get().admin())) {
            awaitReady(port);
            if (!traffic) {
                out.println("ready");
                return 0;
            }
            return awaitTraffic(port);
        }
    }

    private void awaitReady(AdminPort port) throws InterruptedException {
        long began = System.nanoTime();
        String why = unready(port);
        while (!why.isEmpty()) {
            if (System.nanoTime() - began > timeout.toNanos()) {
                throw new CommandFailed("not ready within %s: %s".formatted(timeout, why));
            }
            Thread.sleep(PAUSE);
            why = unready(port);
        }
    }

    /** The reason why the broker isn't ready; empty if it is. */
    private static String unready(AdminPort port) throws InterruptedException {
        try {
            HttpResponse<String> answer = port.get(READY);
            return answer.statusCode() == OK ? "" : port + READY + " returned " + answer.body();
        } catch (IOException e) {
            return "%s doesn't respond (%s)".formatted(port, e.getClass().getSimpleName());
        }
    }

    /**
     * Counts requests since the wait began. Earlier ones may have been the old replica's last ones.
     */
    private int awaitTraffic(AdminPort port) throws InterruptedException {
        long began = System.nanoTime();
        double before = requests(port);
        while (requests(port) <= before) {
            if (System.nanoTime() - began > timeout.toNanos()) {
                out.println(
                        "ready, but no request came within %s: the reverse proxy doesn't use this"
                                        .formatted(timeout)
                                + " replica, or no client sends requests");
                return NO_TRAFFIC;
            }
            Thread.sleep(PAUSE);
        }
        out.println("ready, and receiving requests");
        return 0;
    }

    private static double requests(AdminPort port) throws InterruptedException {
        try {
            return port.get(METRICS)
                    .body()
                    .lines()
                    .filter(line -> line.startsWith(REQUESTS) && !line.contains(HEALTH))
                    .mapToDouble(
                            line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                    .sum();
        } catch (IOException e) {
            throw new CommandFailed(
                    "%s stopped responding while the command waited for a request".formatted(port));
        }
    }
}
