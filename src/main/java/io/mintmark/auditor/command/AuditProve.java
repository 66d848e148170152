package io.mintmark.auditor.command;

import io.mintmark.auditor.reader.MintReceipt;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.reader.ReceiptFile;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.tenant.MintId;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

@Command(
        name = "prove",
        description = {
            "Writes a receipt of one mint: its rows, the change that made its grant, and the proof",
            "that a signed checkpoint seals them. verify.py --receipt checks it offline."
        },
        mixinStandardHelpOptions = true)
public final class AuditProve implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;

    @Parameters(paramLabel = "MINT", description = "The mint id.")
    private String mint = "";

    @Option(names = "--output", paramLabel = "FILE", required = true, description = "The receipt.")
    private @Nullable Path output;

    public AuditProve(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    @Override
    public Integer call() throws IOException {
        MintId id = id(mint);
        String receipt;
        DatabaseSettings database = settings.get().database();
        try (PostgresLog log = PostgresLog.of(database)) {
            receipt = ReceiptFile.text(MintReceipt.of(log, id));
        }
        try (WholeFile file = new WholeFile(Objects.requireNonNull(output))) {
            file.out().print(receipt);
            file.complete();
        }
        System.err.printf(
                "mintmark: check it with: python3 verify.py --receipt %s --key PUBLIC_KEY.pem%n",
                output);
        return 0;
    }

    private static MintId id(String text) {
        try {
            return new MintId(UUID.fromString(text));
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(
                    "'%s' is not a mint id such as 0199f2c4-1c4e-7000-8a5b-0123456789ab"
                            .formatted(text));
        }
    }
}
