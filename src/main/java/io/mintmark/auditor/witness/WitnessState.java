package io.mintmark.auditor.witness;

import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.TreeHead;
import io.mintmark.base.file.RegularFile;
import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The directory of a witness: its key and the last head that it cosigned of each log. What is
 * written is on disk when the method returns. One process uses it at a time.
 */
final class WitnessState implements AutoCloseable {
    private static final int MOST_BYTES = 1 << 20;
    private static final String KEY = "witness.key";
    private static final String PUBLISHED = "witness.vkey";
    private static final String HEADS = "heads";

    private final Path directory;
    private final FileChannel lockFile;
    private final FileLock lock;
    private final Map<String, TreeHead> heads = new HashMap<>();
    private final WitnessKey key;

    /**
     * Opens the directory, and makes a key where it has none.
     *
     * @param name of a new key
     * @throws CommandFailed if another process uses it, or its files can't be used
     */
    WitnessState(Path directory, String name) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.lockFile =
                FileChannel.open(
                        directory.resolve("lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
        this.lock = locked();
        try {
            this.key = key(name);
            readHeads();
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private FileLock locked() throws IOException {
        try {
            FileLock taken = lockFile.tryLock();
            if (taken != null) {
                return taken;
            }
        } catch (OverlappingFileLockException e) {
            lockFile.close();
            throw inUse();
        }
        lockFile.close();
        throw inUse();
    }

    private CommandFailed inUse() {
        return new CommandFailed(
                "--state: another witness is using '%s'. Stop that witness, or name another directory: two witnesses with the same key could cosign two different histories"
                        .formatted(directory));
    }

    WitnessKey key() {
        return key;
    }

    Optional<TreeHead> head(String origin) {
        return Optional.ofNullable(heads.get(origin));
    }

    /** Stores the head that is cosigned next for its log. On disk when this method returns. */
    void advance(TreeHead head) throws IOException {
        Map<String, TreeHead> next = new HashMap<>(heads);
        next.put(head.origin(), head);
        StringBuilder lines = new StringBuilder();
        next.values()
                .forEach(each ->
                        lines.append(
                                "%d %s %s\n".formatted(each.size(), each.base64(), each.origin())));
        write(HEADS, lines.toString());
        heads.put(head.origin(), head);
    }

    private void readHeads() throws IOException {
        Path file = directory.resolve(HEADS);
        if (!Files.exists(file)) {
            return;
        }
        for (String line : RegularFile.text(file, MOST_BYTES).lines().toList()) {
            String[] parts = line.split(" ", 3);
            try {
                heads.put(parts[2], new TreeHead(parts[2], TreeHead.size(parts[0]), parts[1]));
            } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
                throw new CommandFailed(
                        "--state: '%s' has a line that this witness didn't write; restore the file, or use another directory and key"
                                .formatted(file));
            }
        }
    }

    private WitnessKey key(String name) throws IOException {
        Path file = directory.resolve(KEY);
        try {
            if (!Files.exists(file)) {
                KeyPair made = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
                NoteKey published = NoteKey.of(name, NoteKey.Type.COSIGNATURE, made.getPublic());
                write(PUBLISHED, published.text() + "\n");
                write(KEY, Base64.getEncoder().encodeToString(made.getPrivate().getEncoded()));
                return new WitnessKey(made.getPrivate(), published);
            }
            byte[] encoded = Base64.getDecoder().decode(RegularFile.text(file, MOST_BYTES).strip());
            return new WitnessKey(
                    KeyFactory.getInstance("Ed25519")
                            .generatePrivate(new PKCS8EncodedKeySpec(encoded)),
                    NoteKey.parse(
                            RegularFile.text(directory.resolve(PUBLISHED), MOST_BYTES).strip(),
                            NoteKey.Type.COSIGNATURE));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new CommandFailed(
                    "--state: the key in '%s' (files %s and %s) can't be used: %s"
                            .formatted(directory, KEY, PUBLISHED, e.getMessage()));
        }
    }

    /** Replaces a file at once; a crash leaves the old one or the new one. */
    private void write(String name, String text) throws IOException {
        Path partial = directory.resolve(name + ".partial");
        Files.deleteIfExists(partial);
        try (FileChannel file =
                FileChannel.open(
                        partial,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")))) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                var _ = file.write(bytes);
            }
            file.force(true);
        }
        Files.move(partial, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel entries = FileChannel.open(directory, StandardOpenOption.READ)) {
            entries.force(true);
        }
    }

    @Override
    public void close() throws IOException {
        lock.release();
        lockFile.close();
    }
}
