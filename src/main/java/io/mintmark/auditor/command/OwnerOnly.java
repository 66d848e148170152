package io.mintmark.auditor.command;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Files with the log's contents: who made what, for whom, from where. Their owner alone can read
 * them, whatever the umask says.
 */
final class OwnerOnly {
    private static final FileAttribute<Set<PosixFilePermission>> MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private OwnerOnly() {}

    /** Makes a new empty file. */
    static Path create(Path file) throws IOException {
        return Files.createFile(file, MODE);
    }

    /** Makes a new empty file beside another. */
    static Path createBeside(Path file) throws IOException {
        return Files.createTempFile(
                file.toAbsolutePath().getParent(), file.getFileName() + ".partial-", "", MODE);
    }

    /** Opens a file; one that is new gets the mode, an existing one keeps its own. */
    static FileChannel open(Path file, OpenOption... options) throws IOException {
        return FileChannel.open(file, Set.of(options), MODE);
    }
}
