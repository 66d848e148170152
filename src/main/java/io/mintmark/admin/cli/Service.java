package io.mintmark.admin.cli;

import io.mintmark.base.config.ServiceSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.logging.Logging;
import io.mintmark.base.thread.HelperThread;
import io.mintmark.broker.wiring.Broker;
import io.mintmark.broker.wiring.Startup;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;

/**
 * The broker as a command. It is separate from the others so that it starts without the
 * command-line parser, whose initialization takes a sixth of a start.
 */
public final class Service {
    /** The status of a command that goes on in the background. */
    public static final int SERVING = -1;

    private static final Logger log = LoggerFactory.getLogger(Service.class);

    private Service() {}

    /** Whether the arguments request the service and nothing else. */
    public static boolean isAllOf(String... arguments) {
        return arguments.length == 0 || List.of(arguments).equals(List.of("serve"));
    }

    /**
     * Starts the broker, or reports on standard error why it can't start.
     *
     * @param environment variables by name
     * @param directory the working directory
     * @return the exit status, or {@link #SERVING}
     */
    public static int run(Map<String, String> environment, Path directory) {
        try {
            return start(new SettingsReader(environment, directory));
        } catch (RuntimeException e) {
            return new CommandErrors(System.err).report(e);
        }
    }

    static int start(SettingsReader reader) {
        ServiceSettings all = reader.all();
        Logging.install(all.log());
        reader.warnings().forEach(log::warn);
        Broker broker = new Startup(all, InstantSource.system()).run();
        HelperThread.atShutdown("stop", broker::close);
        return SERVING;
    }
}
