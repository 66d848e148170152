package io.mintmark.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A password from the settings. It prints as a constant: even a short digest would let a reader of
 * logs try out guesses.
 */
public final class Password {
    static final Format<Password> FORMAT = Format.hidden("a password", Password::new);
    static final Format<Path> FILE =
            Formats.FILE.hint(", which holds the password and at most a line end behind it");

    private static final int LONGEST_FILE = 64 * 1_024;

    private final String text;

    public Password(String text) {
        this.text = text;
    }

    /**
     * The one that was given, itself or by the name of its file.
     *
     * @throws InvalidSettings if it was given in both ways, or the file can't be used
     */
    static Optional<Password> from(Values values, Setting<Password> itself, Setting<Path> inFile) {
        Optional<Given> file = values.written(inFile);
        if (file.isPresent() && values.written(itself).isPresent()) {
            throw new InvalidSettings(
                    "%s and %s are both set: remove one of them"
                            .formatted(itself.name(), inFile.name()));
        }
        return file.isPresent()
                ? values.find(inFile).map(path -> read(file.get().name(), path))
                : values.find(itself);
    }

    /** Text editors and {@code echo} put a line end behind it, which nobody means. */
    private static Password read(String setting, Path file) {
        try {
            if (Files.size(file) > LONGEST_FILE) {
                throw new InvalidSettings(setting + " is a file far too long for a password");
            }
            String password = Files.readString(file).replaceFirst("\\r?\\n\\z", "");
            if (password.isEmpty()) {
                throw new InvalidSettings(
                        setting + " is an empty file: write the password into it");
            }
            return new Password(password);
        } catch (IOException e) {
            throw new InvalidSettings(setting + " can't be read as text in UTF-8");
        }
    }

    /** The password itself, for the one place that logs in with it. */
    public String reveal() {
        return text;
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
