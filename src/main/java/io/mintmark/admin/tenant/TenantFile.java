package io.mintmark.admin.tenant;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.audit.checkpoint.MoveStatement;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.json.JacksonFactories;
import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/**
 * A tenant on its way to another cell: one line of JSON with all that it has, and one with the
 * statement of the cell that it leaves.
 *
 * @param content the first line
 * @param statement the second line, a JWS
 */
record TenantFile(String content, String statement) {
    /** Bytes: the 128 MiB that export_tenant returns at most, and room for the statement. */
    static final long LONGEST = 129L << 20;

    private static final ObjectMapper JSON = JacksonFactories.mapper().build();

    /** The file with the statement of the tenant's previous cell, signed. */
    static TenantFile signed(String content, String from, SealingKeys keys) {
        JsonNode head = json(content);
        MoveStatement statement =
                new MoveStatement(
                        head.path("tenant").asText(),
                        from,
                        head.path("to").asText(),
                        head.path("revision").asLong(),
                        head.path("hash").asText(),
                        sha256(content));
        return new TenantFile(content, statement.sign(keys));
    }

    /** Gives the file its name when it is complete. Its owner alone can read it. */
    void write(Path output) {
        Path target = output.toAbsolutePath();
        try {
            Path partial =
                    Files.createTempFile(
                            Objects.requireNonNull(target.getParent()),
                            target.getFileName() + ".partial-",
                            "",
                            PosixFilePermissions.asFileAttribute(
                                    PosixFilePermissions.fromString("rw-------")));
            try {
                Files.writeString(partial, content + "\n" + statement + "\n");
                Files.move(
                        partial,
                        target,
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
            } finally {
                var _ = Files.deleteIfExists(partial);
            }
        } catch (IOException e) {
            throw new CommandFailed(
                    "--output: '%s' can't be written (%s). The tenant is already closed in this cell, and no cell serves it until the file is imported: run the command again with another --output."
                            .formatted(output, e));
        }
    }

    /**
     * @throws CommandFailed if it isn't such a file
     */
    static TenantFile read(Path file) {
        try {
            if (Files.size(file) > LONGEST) {
                throw new CommandFailed(
                        "'%s' is too large; the maximum for a tenant's file is %d MiB"
                                .formatted(file, LONGEST >> 20));
            }
            String text = Files.readString(file);
            List<String> lines = text.lines().toList();
            if (lines.size() != 2 || !text.endsWith("\n")) {
                throw new CommandFailed(
                        "'%s' is not a file of mintmark tenant export, or its end is missing"
                                .formatted(file));
            }
            return new TenantFile(lines.getFirst(), lines.getLast());
        } catch (CharacterCodingException e) {
            throw new CommandFailed("'%s' is not text in UTF-8".formatted(file));
        } catch (IOException e) {
            throw new CommandFailed("'%s' can't be read (%s)".formatted(file, e));
        }
    }

    /**
     * The statement, if a trusted key signed it and it is about this content.
     *
     * @throws CommandFailed if not
     */
    MoveStatement opened(TrustedKeys keys) {
        MoveStatement stated;
        try {
            stated = MoveStatement.read(statement, keys);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(
                    "the signed statement in the file %s; nothing was imported"
                            .formatted(e.getMessage()));
        }
        if (!stated.content().equals(sha256(content))) {
            throw new CommandFailed(
                    "the file was changed after it was signed; nothing was imported");
        }
        return stated;
    }

    private static String sha256(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return HexFormat.of().formatHex(CanonicalForm.sha256().digest(bytes));
    }

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the database returned something other than JSON", e);
        }
    }
}
