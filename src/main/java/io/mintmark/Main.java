package io.mintmark;

import io.mintmark.cli.Commands;
import io.mintmark.cli.Service;
import io.mintmark.logging.LastingLogManager;

import java.nio.file.Path;

/** The entry: the broker, or one of its subcommands. */
public final class Main {
    private Main() {}

    /** The command line; see {@code --help}. */
    public static void main(String[] args) {
        System.setProperty("java.util.logging.manager", LastingLogManager.class.getName());
        int status =
                Service.isAllOf(args)
                        ? Service.run(System.getenv(), Path.of(""))
                        : new Commands(System.getenv(), Path.of("")).execute(args);
        if (status != Service.SERVING) {
            System.exit(status);
        }
    }
}
