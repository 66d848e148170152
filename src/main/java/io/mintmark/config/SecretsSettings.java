package io.mintmark.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where secrets are that settings in the database refer to.
 *
 * @param directory holds a directory for each tenant; without it no such reference works
 */
public record SecretsSettings(Optional<Path> directory) {
    static final Setting<Path> DIRECTORY =
            Setting.of(
                    "secrets.dir",
                    Formats.DIRECTORY,
                    "Directory of the secrets that `{\"file\": \"name\"}` refers to, with one"
                            + " directory for each tenant.");

    static final List<Setting<?>> TABLE = List.of(DIRECTORY);

    static SecretsSettings from(Values values) {
        return new SecretsSettings(values.find(DIRECTORY));
    }
}
