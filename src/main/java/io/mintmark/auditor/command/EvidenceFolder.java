package io.mintmark.auditor.command;

import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.output.CommandFailed;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A folder of files for one person's eyes. It gets its name when it is complete; until then it has
 * another one, and a failure removes it.
 */
final class EvidenceFolder implements AutoCloseable {
    private static final String SUMS = "SHA256SUMS";

    private final Path target;
    private final Path partial;

    /** Writes one file. */
    interface Content {
        void write(Consumer<String> text) throws IOException;
    }

    /**
     * @throws CommandFailed if the target exists
     */
    EvidenceFolder(Path output) throws IOException {
        this.target = output.toAbsolutePath().normalize();
        if (Files.exists(target)) {
            throw new CommandFailed(
                    "--output: '%s' already exists; name a new folder".formatted(target));
        }
        Path parent =
                Objects.requireNonNull(target.getParent(), "the root directory always exists");
        if (!Files.isDirectory(parent)) {
            throw new CommandFailed("--output: folder '%s' does not exist".formatted(parent));
        }
        this.partial = Files.createTempDirectory(parent, target.getFileName() + ".partial-");
    }

    /** A new empty file, which its owner alone can read. */
    Path file(String name) throws IOException {
        return OwnerOnly.create(partial.resolve(name));
    }

    void write(String name, Content content) throws IOException {
        try (PrintStream out =
                new PrintStream(
                        new BufferedOutputStream(Files.newOutputStream(file(name))),
                        false,
                        StandardCharsets.UTF_8)) {
            content.write(out::print);
            if (out.checkError()) {
                throw new CommandFailed("--output: %s can't be written".formatted(name));
            }
        }
    }

    /** Adds the sums, signed if there is a key, and gives the folder its name. */
    void complete(Optional<SealingKeys> signer) throws IOException {
        try (Stream<Path> files = Files.list(partial)) {
            List<Path> sorted = files.sorted().toList();
            write(
                    SUMS,
                    text -> {
                        for (Path file : sorted) {
                            text.accept("%s  %s%n".formatted(sum(file), file.getFileName()));
                        }
                    });
        }
        if (signer.isPresent()) {
            byte[] sums = Files.readAllBytes(partial.resolve(SUMS));
            Files.write(file(SUMS + ".sig"), signer.get().signature(sums));
        }
        Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
    }

    private static String sum(Path file) throws IOException {
        try (InputStream bytes = Files.newInputStream(file);
                DigestInputStream read = new DigestInputStream(bytes, CanonicalForm.sha256())) {
            read.transferTo(PrintStream.nullOutputStream());
            return HexFormat.of().formatHex(read.getMessageDigest().digest());
        }
    }

    @Override
    public void close() throws IOException {
        if (Files.exists(partial)) {
            try (Stream<Path> files = Files.walk(partial)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
