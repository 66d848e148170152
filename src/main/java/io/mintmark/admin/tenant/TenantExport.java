package io.mintmark.admin.tenant;

import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.base.config.BrokerSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QuestionFailed;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * {@code tenant export}. The tenant is closed, and the file is written, in this order: after a
 * failure in between the command writes the same tenant again, and at no time two cells mint for
 * it.
 */
@Command(
        name = "export",
        description = {
            "Moves a tenant to another cell: closes it at this cell, and writes it to a signed file.",
            "From then on, the broker answers the tenant's requests with 421 TENANT_MOVED. If you run the command again, it writes the same tenant again.",
            "Needs a platform admin's login, BROKER_URL and AUDIT_SIGNING_KEY_FILE."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:the tenant is closed, and the file is complete",
            "1:the command failed; one line gives the reason"
        },
        mixinStandardHelpOptions = true)
public final class TenantExport implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;

    @Parameters(paramLabel = "NAME", description = "The tenant.")
    private String tenant = "";

    @Option(
            names = "--output",
            paramLabel = "FILE",
            required = true,
            description = "The file. It has the tenant's whole configuration, but no secrets.")
    private @Nullable Path output;

    @Option(
            names = "--to",
            paramLabel = "URL",
            description =
                    "Where clients reach the other cell: its BROKER_URL. By default, the BROKER_URL"
                            + " of this cell, for cells behind one address.")
    private @Nullable URI to;

    public TenantExport(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    @Override
    public Integer call() {
        SettingsReader reader = settings.get();
        SealingKeys keys = AuditKey.read(reader.audit(), new HeldKeys(reader.pkcs11()));
        BrokerSettings broker = reader.broker();
        String from =
                broker.url()
                        .map(URI::toString)
                        .orElseThrow(() ->
                                new CommandFailed(
                                        "BROKER_URL is not set; set it to the URL at which clients reach this cell"));
        String target = to == null ? from : to.toString();
        try (Connection connection =
                Logins.service(reader.database())
                        .source("mintmark tenant export", "-c lock_timeout=15000")
                        .getConnection()) {
            String content =
                    Query.of(
                                    "SELECT broker.export_tenant(?, ?, ?) AS content",
                                    tenant,
                                    target,
                                    broker.issuer().map(URI::toString).orElse(from))
                            .first(connection, row -> row.getString("content"))
                            .orElseThrow();
            TenantFile.signed(content, from, keys).write(Objects.requireNonNull(output));
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
        System.out.printf(
                "Tenant %s is closed here. Next, at %s: mintmark tenant import %s%n",
                tenant, target, output);
        return 0;
    }
}
