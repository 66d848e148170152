package io.mintmark.base.outbound;

import io.mintmark.base.file.RegularFile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The secrets that settings in the database refer to with {@code {"file": "name"}}: the file {@code
 * SECRETS_DIR/<tenant>/name}. A tenant's reference leads to a file in that tenant's directory, with
 * all links followed, or to nothing. Nothing is kept, so a file that changes counts at once.
 */
public final class SecretFiles {
    private static final int MOST_BYTES = 16 * 1024;

    /**
     * Names as {@code internal.setting_fault} accepts them. No part begins with a dot, so that no
     * name leads to a parent directory.
     */
    private static final Pattern NAME =
            Pattern.compile("%1$s(/%1$s){0,7}".formatted("[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"));

    private static final Pattern LINE_END = Pattern.compile("\r?\n$");
    private static final Pattern TENANT = Pattern.compile("[a-z][a-z0-9-]{0,39}");

    private final Optional<Path> directory;

    /**
     * @param directory {@code SECRETS_DIR}; without it every reference is unusable
     */
    public SecretFiles(Optional<Path> directory) {
        this.directory = directory;
    }

    /**
     * The secret in a file: its text without the line break at the end, at most 16 KiB, not empty.
     *
     * @throws UnusableSecretException if there is none; the message is the end of a sentence about
     *     the setting
     */
    public Secret read(String tenant, String name) throws UnusableSecretException {
        if (!NAME.matcher(name).matches() || !TENANT.matcher(tenant).matches()) {
            throw new UnusableSecretException(
                    "must name a file in the tenant's secrets directory, without . or .. in its"
                            + " path");
        }
        String where = "SECRETS_DIR/%s/%s".formatted(tenant, name);
        Path secrets =
                directory.orElseThrow(() ->
                        new UnusableSecretException(
                                "refers to %s, but SECRETS_DIR is not set".formatted(where)));
        try {
            return secret(content(secrets, tenant, name, where), where);
        } catch (NoSuchFileException e) {
            throw new UnusableSecretException(
                    "refers to %s, which doesn't exist: write the secret to that file"
                            .formatted(where));
        } catch (IOException e) {
            throw new UnusableSecretException(
                    "refers to %s, which the broker can't read: give it read permission"
                            .formatted(where));
        }
    }

    /**
     * Reads a secret's file. If it is missing, reads it again: where secrets are mounted, as by
     * Kubernetes, a new version is another directory behind the same link, and the old directory
     * disappears.
     */
    private static byte[] content(Path secrets, String tenant, String name, String where)
            throws IOException, UnusableSecretException {
        try {
            return content(resolved(secrets, tenant, name, where), where);
        } catch (NoSuchFileException e) {
            return content(resolved(secrets, tenant, name, where), where);
        }
    }

    private static Path resolved(Path secrets, String tenant, String name, String where)
            throws IOException, UnusableSecretException {
        Path all = secrets.toRealPath();
        Path own = all.resolve(tenant).toRealPath();
        Path file = own.resolve(name).toRealPath();
        if (!own.startsWith(all) || !own.endsWith(tenant) || !file.startsWith(own)) {
            throw new UnusableSecretException(
                    "refers to %s, a symbolic link to a file outside the tenant's secrets directory"
                            .formatted(where));
        }
        return file;
    }

    /** Reads a file whose path has no links. A link that appears meanwhile isn't followed. */
    private static byte[] content(Path file, String where)
            throws IOException, UnusableSecretException {
        try {
            return RegularFile.read(file, MOST_BYTES, LinkOption.NOFOLLOW_LINKS);
        } catch (RegularFile.Unfit e) {
            throw new UnusableSecretException(
                    "refers to %s, which %s".formatted(where, e.getMessage()));
        }
    }

    private static Secret secret(byte[] content, String where) throws UnusableSecretException {
        try {
            String text =
                    StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
            String secret = LINE_END.matcher(text).replaceFirst("");
            if (secret.isBlank()) {
                throw new UnusableSecretException(
                        "refers to %s, which is empty: write the secret to it".formatted(where));
            }
            return new Secret(secret);
        } catch (CharacterCodingException e) {
            throw new UnusableSecretException(
                    "refers to %s, which isn't UTF-8 text".formatted(where));
        }
    }
}
