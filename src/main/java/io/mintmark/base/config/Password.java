package io.mintmark.base.config;

import io.mintmark.base.file.RegularFile;
import io.mintmark.base.file.RereadFile;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A password from the settings. It prints as a constant: even a short digest would let a reader of
 * logs try out guesses.
 */
public final class Password {
    static final Format<Password> FORMAT = Format.hidden("a password", Password::new);
    static final Format<Path> FILE =
            Formats.FILE.hint(", which holds the password and at most one trailing newline");

    private static final int LONGEST_FILE = 64 * 1_024;

    private volatile String text;
    private final Optional<Path> source;
    private final Optional<RereadFile> file;

    public Password(String text) {
        this.text = text;
        this.source = Optional.empty();
        this.file = Optional.empty();
    }

    /**
     * @param named how complaints name the setting
     */
    private Password(String named, String setting, Path file) {
        this.text = read(named, file);
        this.source = Optional.of(file);
        this.file = Optional.of(new RereadFile(setting));
    }

    /**
     * The one that was given, itself or by the name of its file.
     *
     * @throws InvalidSettings if it was given in both ways, or the file can't be used
     */
    static Optional<Password> from(Values values, Setting<Password> itself, Setting<Path> inFile) {
        Optional<RawSetting> file = values.written(inFile);
        if (file.isPresent() && values.written(itself).isPresent()) {
            throw new InvalidSettings(
                    "%s and %s are both set: remove one of them"
                            .formatted(itself.name(), inFile.name()));
        }
        return file.isPresent()
                ? values.find(inFile)
                        .map(path -> new Password(file.get().name(), inFile.name(), path))
                : values.find(itself);
    }

    /**
     * The password in a file, which is read again at each use.
     *
     * @throws InvalidSettings if the file can't be used
     */
    static Optional<Password> inFile(Values values, Setting<Path> inFile) {
        return values.find(inFile).map(path -> new Password(inFile.name(), inFile.name(), path));
    }

    /**
     * Reads the password without a trailing newline, which text editors and {@code echo} append.
     */
    private static String read(String setting, Path file) {
        try {
            String password = RegularFile.text(file, LONGEST_FILE).replaceFirst("\\r?\\n\\z", "");
            if (password.isEmpty()) {
                throw new InvalidSettings(
                        setting + " is an empty file: write the password into it");
            }
            return password;
        } catch (RegularFile.Unfit e) {
            throw new InvalidSettings(setting + " names a file that " + e.getMessage());
        } catch (IOException e) {
            throw new InvalidSettings(setting + " is not text in UTF-8");
        }
    }

    /** The password itself, for the one place that logs in with it. */
    public String reveal() {
        return text;
    }

    /**
     * The password that its file holds now, or the last one where the file can't be used. One
     * without a file stays the same.
     */
    public String revealAgain() {
        source.ifPresent(this::readAgain);
        return text;
    }

    private void readAgain(Path path) {
        RereadFile state = file.orElseThrow();
        try {
            text = read(state.setting(), path);
            state.accepted();
        } catch (InvalidSettings e) {
            state.refused("'%s': %s".formatted(path, e.getMessage()));
        }
    }

    /** The state of the password's file, for the metrics; empty without a file. */
    public Optional<RereadFile> file() {
        return file;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Password password && text.equals(password.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "(hidden)";
    }
}
