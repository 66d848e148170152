package io.mintmark.base.logging;

import io.mintmark.base.config.LogSettings;
import io.mintmark.base.config.LogSettings.LogFormat;

import org.jspecify.annotations.Nullable;

import java.io.OutputStream;
import java.time.ZoneId;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Sets up the log of the whole process. It goes to standard error: standard output is for the audit
 * log's checkpoints and for what subcommands were asked for.
 *
 * <p>The level is that of our own messages. Of libraries only warnings and errors are shown, and no
 * setting changes that: below warnings the AWS SDK, the HTTP client and the PostgreSQL driver log
 * requests, answers and parameters, and so tokens and credentials.
 */
public final class Logging {
    private static final String OUR_NAME = "io.mintmark";

    /**
     * A strong reference, because {@code java.util.logging} forgets the levels of unreferenced
     * loggers.
     */
    private static final Logger OURS = Logger.getLogger(OUR_NAME);

    /** Logs at each attempt to connect what the exception says too. */
    private static final String HOST_NAMES = "org.postgresql.ssl.PGjdbcHostnameVerifier";

    private static final Logger LOG = Logger.getLogger(Logging.class.getName());

    private Logging() {}

    /** Replaces any existing logging configuration. */
    public static void install(LogSettings settings) {
        install(settings, System.err);
    }

    static void install(LogSettings settings, OutputStream destination) {
        Logger root = Logger.getLogger("");
        for (Handler before : root.getHandlers()) {
            root.removeHandler(before);
        }
        Handler handler = new LineHandler(destination, formatter(settings.format()));
        handler.setFilter(Logging::isFitToPrint);
        root.addHandler(handler);
        root.setLevel(Level.WARNING);
        OURS.setLevel(LogLevels.of(settings.level()));
        Thread.setDefaultUncaughtExceptionHandler(Logging::died);
        if (LogManager.getLogManager() instanceof LastingLogManager lasting) {
            lasting.keep();
        }
    }

    /** Checked for every record, because any code can change a logger's level at any time. */
    private static boolean isFitToPrint(LogRecord record) {
        return isOurs(record.getLoggerName())
                || (record.getLevel().intValue() >= Level.WARNING.intValue()
                        && !HOST_NAMES.equals(record.getLoggerName()));
    }

    /** Whether a logger is one of this program's, and not of a library. */
    static boolean isOurs(@Nullable String name) {
        return name != null && (name.equals(OUR_NAME) || name.startsWith(OUR_NAME + "."));
    }

    private static void died(Thread thread, Throwable thrown) {
        LOG.log(Level.SEVERE, thrown, () -> "thread '" + thread.getName() + "' died");
    }

    private static Formatter formatter(LogFormat format) {
        return switch (format) {
            case JSON -> new JsonLines();
            case TEXT -> new ReadableLines(ZoneId.systemDefault());
        };
    }
}
