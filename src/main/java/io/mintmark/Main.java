package io.mintmark;

import io.mintmark.admin.cli.Commands;
import io.mintmark.admin.cli.Service;
import io.mintmark.base.logging.LastingLogManager;
import io.mintmark.base.thread.CarrierThreads;

import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.TimeZone;

/** The entry: the broker, or one of its subcommands. */
public final class Main {
    private Main() {}

    /** The command line; see {@code --help}. */
    public static void main(String[] args) {
        // PostgreSQL's driver names the JVM's time zone at login, and a server may not know it
        TimeZone.setDefault(TimeZone.getTimeZone(ZoneOffset.UTC));
        System.setProperty("java.util.logging.manager", LastingLogManager.class.getName());
        CarrierThreads.adapt();
        int status =
                Service.isAllOf(args)
                        ? Service.run(System.getenv(), Path.of(""))
                        : new Commands(System.getenv(), Path.of("")).execute(args);
        if (status != Service.SERVING) {
            System.exit(status);
        }
    }
}
