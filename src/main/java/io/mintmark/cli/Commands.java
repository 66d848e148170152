package io.mintmark.cli;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.config.InvalidSettings;
import io.mintmark.config.ServiceSettings;
import io.mintmark.config.SettingsReader;
import io.mintmark.identity.UnusableSigningKeysException;
import io.mintmark.logging.Logging;
import io.mintmark.postgres.DatabaseUnfit;
import io.mintmark.postgres.QuestionFailed;
import io.mintmark.verdict.Unavailable;
import io.mintmark.wiring.Broker;
import io.mintmark.wiring.Logins;
import io.mintmark.wiring.StartFailed;
import io.mintmark.wiring.Startup;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.IVersionProvider;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;

/**
 * The command line. Whatever keeps a command from its work is told in one line on standard error;
 * stack traces are for faults of the broker's own.
 */
public final class Commands {
    /** The status of a command that goes on in the background. */
    public static final int SERVING = -1;

    private static final Logger log = LoggerFactory.getLogger(Commands.class);

    private final Map<String, String> environment;
    private final Path directory;
    private final PrintStream errors;

    /**
     * @param environment variables by name
     * @param directory the working directory
     */
    public Commands(Map<String, String> environment, Path directory) {
        this.environment = Map.copyOf(environment);
        this.directory = directory;
        this.errors = System.err;
    }

    /** Runs a command and returns the exit status, or {@link #SERVING}. */
    public int execute(String... arguments) {
        return new CommandLine(this.new Serve())
                .addSubcommand(this.new Serve())
                .addSubcommand(this.new Migrate())
                .addSubcommand(
                        new Explain(
                                () -> Logins.service(settings().database()), System.in, System.out))
                .addSubcommand(audit())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, _, _) -> tell(failure))
                .execute(arguments);
    }

    private CommandLine audit() {
        AuditCommands audit = new AuditCommands(this::settings);
        return new CommandLine(audit)
                .addSubcommand(audit.new Verify())
                .addSubcommand(new AuditExport(this::settings))
                .addSubcommand(new AuditShow(this::settings))
                .addSubcommand(new AuditRetire(this::settings));
    }

    private int tell(Exception failure) {
        switch (failure) {
            case InvalidSettings _,
                    StartFailed _,
                    CommandFailed _,
                    DatabaseUnfit _,
                    QuestionFailed _,
                    UnusableSigningKeysException _,
                    StoreUnreachable _,
                    Unavailable _ ->
                    errors.println("mintmark: " + failure.getMessage());
            default -> log.error("The command failed", failure);
        }
        return failure instanceof InvalidSettings ? ExitCode.USAGE : ExitCode.SOFTWARE;
    }

    private SettingsReader settings() {
        SettingsReader reader = new SettingsReader(environment, directory);
        Logging.install(reader.log());
        return reader;
    }

    /** {@code serve}, also without a name. */
    @Command(
            name = "serve",
            description = "Serves until it is told to stop. What is run when no command is named.",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class)
    private final class Serve implements CommandLine.IExitCodeGenerator, Runnable {
        @Override
        public void run() {
            ServiceSettings all = settings().all();
            Broker broker = new Startup(all, InstantSource.system()).run();
            Runtime.getRuntime()
                    .addShutdownHook(Thread.ofPlatform().name("stop").unstarted(broker::close));
        }

        @Override
        public int getExitCode() {
            return SERVING;
        }
    }

    /** {@code migrate}. */
    @Command(
            name = "migrate",
            description = "Brings the database's schema up to date and ends.",
            mixinStandardHelpOptions = true)
    private final class Migrate implements Runnable {
        @Override
        public void run() {
            int count = Logins.migrations(settings().migrating()).run();
            log.info("The schema is up to date, {} migrations ran", count);
        }
    }

    /** What {@code --version} prints. */
    private static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String packaged = Commands.class.getPackage().getImplementationVersion();
            return new String[] {"mintmark " + (packaged == null ? "development" : packaged)};
        }
    }
}
