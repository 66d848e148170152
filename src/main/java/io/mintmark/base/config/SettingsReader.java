package io.mintmark.base.config;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads settings from the environment and, below it, from a configuration file: the one that {@code
 * MINTMARK_CONFIG} names, or {@code application.yaml} in the working directory if there is one. A
 * blank text counts as not set. Subcommands ask only for the settings that they need.
 */
public final class SettingsReader {
    private static final String FILE_VARIABLE = "MINTMARK_CONFIG";
    private static final String DEFAULT_FILE = "application.yaml";

    private final Values values;
    private final List<String> warnings;
    private final Complaints ofTheFile = new Complaints();

    /**
     * @param environment variables by name
     * @param directory where the default file would be, and what a relative name starts from
     * @throws InvalidSettings if the file can't be read
     */
    public SettingsReader(Map<String, String> environment, Path directory) {
        Map<String, RawSetting> given = new HashMap<>();
        file(environment, directory)
                .map(file -> ConfigurationFile.read(file, ofTheFile))
                .ifPresent(given::putAll);
        given.putAll(fromEnvironment(environment));
        this.values = new Values(given);
        this.warnings = UnknownVariables.warnings(environment);
    }

    /** Sentences about variables that look like settings and are none, for the log. */
    public List<String> warnings() {
        return warnings;
    }

    /**
     * All settings of a broker that serves.
     *
     * @throws InvalidSettings with all that is wrong or missing
     */
    public ServiceSettings all() {
        return ServiceSettings.from(values, ofTheFile.copy());
    }

    /**
     * All settings of a console.
     *
     * @throws InvalidSettings with all that is wrong or missing
     */
    public ConsoleSettings console() {
        return ConsoleSettings.from(values, ofTheFile.copy());
    }

    /**
     * Reads the settings of the database alone.
     *
     * @throws InvalidSettings at the first that is wrong or missing
     */
    public DatabaseSettings database() {
        return DatabaseSettings.from(values);
    }

    /**
     * The settings of the database alone, for the login that migrates: the owner's login if one is
     * set, else the service's.
     *
     * @throws InvalidSettings at the first that is wrong or missing
     */
    public DatabaseSettings migrating() {
        return DatabaseSettings.forMigrating(values);
    }

    /**
     * The settings of the broker's own identity alone.
     *
     * @throws InvalidSettings with what is wrong or missing
     */
    public BrokerSettings broker() {
        return BrokerSettings.from(values);
    }

    /**
     * The certificates of the broker's two ports, as far as they are set.
     *
     * @throws InvalidSettings at the first that is wrong
     */
    public List<TlsFiles> tls() {
        return Stream.of(ServerSettings.TLS, AdminSettings.TLS)
                .flatMap(pair -> pair.from(values).stream())
                .toList();
    }

    /**
     * The non-public destinations that the broker may connect to.
     *
     * @throws InvalidSettings if it is wrong
     */
    public AllowedHosts allowedHosts() {
        return SingleSettings.allowedHosts(values);
    }

    /**
     * Reads the settings of the audit log's keys alone.
     *
     * @throws InvalidSettings if one is wrong or missing
     */
    public AuditSettings audit() {
        return AuditSettings.from(values);
    }

    /**
     * The public audit keys of other cells, whose tenants may move here.
     *
     * @throws InvalidSettings if it is wrong
     */
    public Optional<Path> cellKeysFile() {
        return values.find(AuditSettings.CELL_KEYS_FILE);
    }

    /**
     * The settings of the port for health and metrics.
     *
     * @throws InvalidSettings at the first that is wrong
     */
    public AdminSettings admin() {
        return AdminSettings.from(values);
    }

    /**
     * The PKCS#11 module with keys that no file has.
     *
     * @throws InvalidSettings at the first that is wrong
     */
    public Optional<Pkcs11Settings> pkcs11() {
        return Pkcs11Settings.from(values);
    }

    /**
     * The key that seals the audit log, for a verifier who may have been given another.
     *
     * @throws InvalidSettings with an explanation if the file is not set
     */
    public AuditSettings auditKeyToTrust() {
        return AuditSettings.keyToTrust(values);
    }

    /**
     * Reads the settings of the log alone, which every subcommand needs first.
     *
     * @throws InvalidSettings at the first that is wrong, or with what is wrong in the file
     */
    public LogSettings log() {
        ofTheFile.raise();
        return LogSettings.from(values);
    }

    private static Optional<Path> file(Map<String, String> environment, Path directory) {
        String named = environment.getOrDefault(FILE_VARIABLE, "");
        if (!named.isBlank()) {
            return Optional.of(
                    Formats.FILE.read(FILE_VARIABLE, directory.resolve(named).toString()));
        }
        return Optional.of(directory.resolve(DEFAULT_FILE)).filter(Files::exists);
    }

    private static Map<String, RawSetting> fromEnvironment(Map<String, String> environment) {
        Map<String, RawSetting> given = new HashMap<>();
        for (Setting<?> setting : KnownSettings.TABLE) {
            String text = environment.getOrDefault(setting.name(), "");
            if (!text.isBlank()) {
                given.put(setting.key(), new RawSetting(setting.name(), text));
            }
        }
        return given;
    }
}
