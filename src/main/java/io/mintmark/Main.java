package io.mintmark;

import io.mintmark.admin.cli.Commands;
import io.mintmark.admin.cli.Service;
import io.mintmark.base.logging.LastingLogManager;

import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.TimeZone;

/** The entry: the broker, or one of its subcommands. */
public final class Main {
    /**
     * So many of a flood's requests may compute on a processor while others get a turn from the
     * operating system. Fewer delay the others; more only add switches between threads.
     */
    private static final int THREADS_PER_PROCESSOR = 8;

    private Main() {}

    /** The command line; see {@code --help}. */
    public static void main(String[] args) {
        // PostgreSQL's driver names the JVM's time zone at login, and a server may not know it
        TimeZone.setDefault(TimeZone.getTimeZone(ZoneOffset.UTC));
        shareProcessors();
        System.setProperty("java.util.logging.manager", LastingLogManager.class.getName());
        int status =
                Service.isAllOf(args)
                        ? Service.run(System.getenv(), Path.of(""))
                        : new Commands(System.getenv(), Path.of("")).execute(args);
        if (status != Service.SERVING) {
            System.exit(status);
        }
    }

    /**
     * The JVM doesn't preempt virtual threads, and one that a platform thread wakes runs last. By
     * default they have one platform thread for each processor. A flood of requests then delays
     * other answers by seconds. The operating system shares the processors fairly among several
     * platform threads.
     */
    private static void shareProcessors() {
        int threads = THREADS_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
        System.getProperties()
                .putIfAbsent("jdk.virtualThreadScheduler.parallelism", Integer.toString(threads));
    }
}
