package io.mintmark.auditor.command;

import io.mintmark.audit.checkpoint.AuditKey;
import io.mintmark.audit.checkpoint.PublicKeys;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.LogFeed;
import io.mintmark.auditor.export.EvidenceTables;
import io.mintmark.auditor.export.EvidenceTables.Table;
import io.mintmark.auditor.export.ExportedSnapshot;
import io.mintmark.auditor.export.PostgresExport;
import io.mintmark.auditor.export.Selection;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.ExportedRow;
import io.mintmark.base.output.Times;
import io.mintmark.base.pkcs11.HeldKeys;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Logins;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;

@Command(
        name = "evidence",
        description = {
            "Writes a folder for an external auditor: the log of a time range with its proof, the configuration's history, reviews, members of roles, and who could mint.",
            "SHA256SUMS is signed with the last key of AUDIT_SIGNING_KEY_FILE. With --keys, it"
                    + " isn't signed; the checkpoints still prove the log."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:the folder is complete, and nothing is wrong with the log",
            "1:the folder is complete, but verify.txt has findings; or no folder was written",
            "3:only declarations or doubts were found"
        },
        mixinStandardHelpOptions = true)
public final class AuditEvidence implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;

    @Option(names = "--from", paramLabel = "TIME", required = true, description = "The start.")
    private String from = "";

    @Option(
            names = "--to",
            paramLabel = "TIME",
            required = true,
            description = "The end, exclusive.")
    private String to = "";

    @Option(
            names = "--tenant",
            description =
                    "Only this tenant's rows, and no proof.jsonl, which has the rows of all"
                            + " tenants.")
    private @Nullable String tenant;

    @Option(names = "--output", paramLabel = "DIR", required = true, description = "A new folder.")
    private Path output = Path.of("");

    @Option(
            names = "--keys",
            paramLabel = "FILE",
            description = "Public keys to trust, PEM, if you don't have AUDIT_SIGNING_KEY_FILE.")
    private @Nullable Path keys;

    public AuditEvidence(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    @Override
    public Integer call() throws IOException {
        SettingsReader reader = settings.get();
        Optional<SealingKeys> signer =
                keys == null
                        ? Optional.of(
                                AuditKey.read(
                                        reader.auditKeyToTrust(), new HeldKeys(reader.pkcs11())))
                        : Optional.empty();
        TrustedKeys trusted =
                new TrustedKeys(
                        signer.map(SealingKeys::published)
                                .orElseGet(() ->
                                        PublicKeys.read(Objects.requireNonNull(keys), "--keys")));
        Selection wanted =
                new Selection(
                        Times.of("--from", from),
                        past(Times.of("--to", to).orElseThrow()),
                        Optional.ofNullable(tenant),
                        Optional.empty(),
                        Optional.empty());
        try (ExportedSnapshot snapshot = new ExportedSnapshot(Logins.service(reader.database()));
                EvidenceFolder folder = new EvidenceFolder(output)) {
            DatabaseLogin login = snapshot.login();
            events(folder, login, wanted);
            tables(folder, login, wanted);
            proof(folder, login, wanted);
            int status;
            try (PostgresLog log = PostgresLog.of(reader.database(), login)) {
                status = verify(folder, log, trusted);
            }
            folder.write("README.md", text -> text.accept(readme(signer.isPresent())));
            folder.write("verify.py", text -> text.accept(resource("verify.py")));
            folder.complete(signer);
            return status;
        }
    }

    /**
     * Requires an end that is not in the future. A directory named after a future time would
     * suggest complete evidence.
     */
    private static Optional<Instant> past(Instant end) {
        Instant now = Instant.now();
        if (now.isBefore(end)) {
            throw new CommandFailed(
                    "--to %s is in the future; use a time in the past, such as --to %s"
                            .formatted(end, now.truncatedTo(ChronoUnit.SECONDS)));
        }
        return Optional.of(end);
    }

    private static void events(EvidenceFolder folder, DatabaseLogin login, Selection wanted)
            throws IOException {
        try (PostgresExport rows = new PostgresExport(login)) {
            AuditExport.requireSense(wanted, rows);
            for (ExportFormat format : new ExportFormat[] {ExportFormat.JSONL, ExportFormat.CSV}) {
                folder.write(
                        "events." + format,
                        text -> {
                            text.accept(format.header());
                            rows.rows(wanted, row -> text.accept(format.event(row)));
                        });
            }
        }
    }

    private void tables(EvidenceFolder folder, DatabaseLogin login, Selection wanted)
            throws IOException {
        String start = wanted.from().orElseThrow().toString();
        String end = wanted.to().orElseThrow().toString();
        try (EvidenceTables tables = new EvidenceTables(login)) {
            folder.write(
                    "changes.jsonl",
                    text ->
                            tables.rows(
                                    Table.CHANGES,
                                    tenant,
                                    start,
                                    end,
                                    row -> text.accept(row + "\n")));
            csv(folder, "changes.csv", tables, Table.CHANGES, end);
            csv(folder, "grant_review.csv", tables, Table.GRANT_REVIEW, end);
            csv(folder, "access_request.csv", tables, Table.ACCESS_REQUEST, start, end);
            csv(folder, "role_member.csv", tables, Table.ROLE_MEMBER, end);
            csv(folder, "who_could_mint_at_start.csv", tables, Table.WHO_COULD_MINT, start);
            csv(folder, "who_could_mint_at_end.csv", tables, Table.WHO_COULD_MINT, end);
            csv(folder, "who_could_mint_within.csv", tables, Table.GRANTS_WITHIN, start, end);
        }
    }

    private void csv(
            EvidenceFolder folder, String name, EvidenceTables tables, Table table, String at)
            throws IOException {
        csv(folder, name, tables, table, at, at);
    }

    private void csv(
            EvidenceFolder folder,
            String name,
            EvidenceTables tables,
            Table table,
            String since,
            String at)
            throws IOException {
        var columns = tables.columns(table);
        folder.write(
                name,
                text -> {
                    text.accept(Csv.header(columns));
                    tables.rows(
                            table,
                            tenant,
                            since,
                            at,
                            row -> text.accept(Csv.line(columns, ExportedRow.parse(row))));
                });
    }

    private void proof(EvidenceFolder folder, DatabaseLogin login, Selection wanted)
            throws IOException {
        try (LogFeed feed = new LogFeed(login)) {
            var used = new TreeMap<String, String>();
            folder.write(
                    "checkpoints.jsonl",
                    text ->
                            feed.checkpoints(
                                    0,
                                    signed -> {
                                        signed.shownKey()
                                                .ifPresent(pem -> used.put(signed.signer(), pem));
                                        checkpoint(signed, wanted, text);
                                    }));
            folder.write(
                    "keys.pem",
                    text ->
                            used.forEach(
                                    (id, pem) -> text.accept("key %s\n%s".formatted(id, pem))));
            if (tenant == null) {
                Path file = folder.file("proof.jsonl");
                try (ExportSink sink = new ExportSink.File(file, Optional.empty())) {
                    new PartExport(feed, sink).write(wanted.from(), wanted.to());
                }
            }
        }
    }

    private static void checkpoint(
            SignedCheckpoint signed, Selection wanted, Consumer<String> text) {
        Instant at = signed.sealedAt();
        boolean isOfTheRange =
                !at.isBefore(wanted.from().orElseThrow()) && at.isBefore(wanted.to().orElseThrow());
        if (isOfTheRange || signed.announcedBy().isPresent()) {
            text.accept(signed.line() + "\n");
        }
    }

    private static int verify(EvidenceFolder folder, PostgresLog log, TrustedKeys trusted)
            throws IOException {
        try (PrintStream out =
                new PrintStream(
                        Files.newOutputStream(folder.file("verify.txt")),
                        false,
                        StandardCharsets.UTF_8)) {
            return AuditReport.verify(log, trusted, out).status();
        }
    }

    private String readme(boolean isSigned) throws IOException {
        return """
        # Evidence from %s to %s, %s

        Written %s. SHA256SUMS is %s.

        %s\
        """
                .formatted(
                        from,
                        to,
                        tenant == null ? "all tenants" : "tenant " + tenant,
                        Instant.now(),
                        isSigned ? "signed" : "not signed",
                        resource("audit/evidence.md"));
    }

    private static String resource(String name) throws IOException {
        try (InputStream bytes = AuditEvidence.class.getResourceAsStream("/" + name)) {
            return new String(
                    Objects.requireNonNull(bytes, name).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
