package io.mintmark.admin.cli;

import io.mintmark.admin.audit.AuditDeclarations;
import io.mintmark.admin.audit.AuditRestored;
import io.mintmark.admin.audit.AuditRetire;
import io.mintmark.admin.cell.ApplyCommand;
import io.mintmark.admin.cell.CellsCommand;
import io.mintmark.admin.check.CheckCommand;
import io.mintmark.admin.check.WaitReady;
import io.mintmark.admin.subject.BlockSubject;
import io.mintmark.admin.tenant.TenantExport;
import io.mintmark.admin.tenant.TenantImport;
import io.mintmark.admin.webhook.CheckWebhook;
import io.mintmark.auditor.command.AuditConsistency;
import io.mintmark.auditor.command.AuditEvidence;
import io.mintmark.auditor.command.AuditExport;
import io.mintmark.auditor.command.AuditProve;
import io.mintmark.auditor.command.AuditShow;
import io.mintmark.auditor.command.AuditVerify;
import io.mintmark.auditor.command.AuditWitness;
import io.mintmark.auditor.command.Explain;
import io.mintmark.base.config.ConsoleSettings;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.logging.Logging;
import io.mintmark.base.schema.Migrations;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.start.DatabaseWait;
import io.mintmark.base.start.ProgramVersion;
import io.mintmark.base.thread.HelperThread;
import io.mintmark.console.wiring.Console;
import io.mintmark.console.wiring.ConsoleStartup;
import io.mintmark.provider.types.CredentialTypes;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import picocli.CommandLine;
import picocli.CommandLine.Command;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.Callable;

/** The command line, and what it says when something keeps a command from its work. */
public final class Commands {
    private static final Logger log = LoggerFactory.getLogger(Commands.class);

    private final Map<String, String> environment;
    private final Path directory;
    private final CommandErrors errors = new CommandErrors(System.err);

    /**
     * @param environment variables by name
     * @param directory the working directory
     */
    public Commands(Map<String, String> environment, Path directory) {
        this.environment = Map.copyOf(environment);
        this.directory = directory;
    }

    /** Runs a command and returns the exit status, or {@link Service#SERVING}. */
    public int execute(String... arguments) {
        CommandLine commands =
                new CommandLine(this.new Mintmark())
                        .addSubcommand(this.new Serve())
                        .addSubcommand(this.new Migrate())
                        .addSubcommand(this.new ServeConsole())
                        .addSubcommand(new CheckCommand(this::reader, System.out))
                        .addSubcommand(new WaitReady(this::reader, System.out))
                        .addSubcommand(new CheckWebhook(InstantSource.system(), System.out))
                        .addSubcommand(
                                new Explain(
                                        () -> Logins.service(settings().database()),
                                        System.in,
                                        System.out))
                        .addSubcommand(
                                new BlockSubject(
                                        CredentialTypes.byName(),
                                        () -> Logins.service(settings().database()),
                                        System.out))
                        .addSubcommand(audit())
                        .addSubcommand(tenant())
                        .addSubcommand(new ApplyCommand(this::settings, System.out, System.err))
                        .addSubcommand(cells())
                        .setCaseInsensitiveEnumValuesAllowed(true)
                        .setExecutionExceptionHandler((failure, _, _) -> errors.report(failure));
        showVersion(commands);
        return commands.execute(arguments);
    }

    /** Makes every command answer {@code --version} with the same text. */
    private static void showVersion(CommandLine command) {
        command.getCommandSpec().versionProvider(() -> new String[] {ProgramVersion.inFull()});
        command.getSubcommands().values().forEach(Commands::showVersion);
    }

    private CommandLine audit() {
        CommandLine audit =
                new CommandLine(new Audit())
                        .addSubcommand(new AuditVerify(this::settings))
                        .addSubcommand(new AuditExport(this::settings))
                        .addSubcommand(new AuditShow(this::settings))
                        .addSubcommand(new AuditProve(this::settings))
                        .addSubcommand(new AuditConsistency(this::settings))
                        .addSubcommand(new AuditEvidence(this::settings))
                        .addSubcommand(new AuditWitness())
                        .addSubcommand(new AuditRetire(this::settings))
                        .addSubcommand(new AuditRestored(this::settings));
        new AuditDeclarations(this::settings).commands().forEach(audit::addSubcommand);
        return audit;
    }

    private CommandLine tenant() {
        return new CommandLine(new Tenant())
                .addSubcommand(new TenantExport(this::settings))
                .addSubcommand(new TenantImport(this::settings));
    }

    /** Arguments after the directory belong to the command that runs in each cell. */
    private CommandLine cells() {
        return new CommandLine(
                        new CellsCommand(
                                environment,
                                (settings, arguments) ->
                                        new Commands(settings, directory).execute(arguments),
                                System.err))
                .setStopAtPositional(true);
    }

    private SettingsReader reader() {
        return new SettingsReader(environment, directory);
    }

    private SettingsReader settings() {
        SettingsReader reader = reader();
        Logging.install(reader.log());
        return reader;
    }

    private int serve() {
        return Service.start(reader());
    }

    private int console() {
        SettingsReader reader = reader();
        ConsoleSettings all = reader.console();
        Logging.install(all.log());
        reader.warnings().forEach(log::warn);
        Console console =
                new ConsoleStartup(all, CredentialTypes.byName(), InstantSource.system()).run();
        HelperThread.atShutdown("stop", console::close);
        return Service.SERVING;
    }

    /** The command without a subcommand, which runs {@code serve}. */
    @Command(
            name = "mintmark",
            description = {
                "A multi-tenant credential broker: an OIDC token in, short-lived credentials out.",
                "Without a command, it runs serve."
            },
            synopsisSubcommandLabel = "[COMMAND]",
            mixinStandardHelpOptions = true)
    private final class Mintmark implements Callable<Integer> {
        @Override
        public Integer call() {
            return serve();
        }
    }

    @Command(
            name = "serve",
            description = "Runs the broker until the process is stopped. The default command.",
            exitCodeListHeading = "Exit codes:%n",
            exitCodeList = {
                "0:the server was stopped",
                "1:the server could not start; one line gives the reason",
                "2:settings are wrong; one line for each"
            },
            mixinStandardHelpOptions = true)
    private final class Serve implements Callable<Integer> {
        @Override
        public Integer call() {
            return serve();
        }
    }

    @Command(
            name = "console",
            description = {
                "Serves pages for auditors and tenant owners until it is stopped.",
                "The console reads the database with its own login and can't mint."
            },
            exitCodeListHeading = "Exit codes:%n",
            exitCodeList = {
                "0:the server was stopped",
                "1:the server could not start; one line gives the reason",
                "2:settings are wrong; one line for each"
            },
            mixinStandardHelpOptions = true)
    private final class ServeConsole implements Callable<Integer> {
        @Override
        public Integer call() {
            return console();
        }
    }

    /** The command group, which does nothing by itself. */
    @Command(
            name = "audit",
            description = "Checks and reads the audit log.",
            mixinStandardHelpOptions = true,
            synopsisSubcommandLabel = "COMMAND")
    private static final class Audit {}

    /** The command group, which does nothing by itself. */
    @Command(
            name = "tenant",
            description = "Moves tenants between cells.",
            mixinStandardHelpOptions = true,
            synopsisSubcommandLabel = "COMMAND")
    private static final class Tenant {}

    @Command(
            name = "migrate",
            description = "Brings the database's schema up to date and ends.",
            mixinStandardHelpOptions = true)
    private final class Migrate implements Runnable {
        @Override
        public void run() {
            DatabaseSettings database = settings().migrating();
            int count = new DatabaseWait(database).get(() -> Migrations.of(database).run());
            log.info("The schema is up to date; {} migrations ran", count);
        }
    }
}
