package io.mintmark.base.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where keys are that no file holds.
 *
 * @param pin what logs in to the token; a library that logs in by itself needs none
 */
public record Pkcs11Settings(Path module, Optional<Password> pin) {
    static final Setting<Path> MODULE =
            Setting.of(
                    "pkcs11.module",
                    Formats.FILE.hint(", the PKCS#11 library of the HSM"),
                    "PKCS#11 library of the HSM that contains keys ([Keys in an"
                            + " HSM](run/pkcs11.md)).");
    static final Setting<Path> PIN_FILE =
            Setting.of(
                    "pkcs11.pin-file",
                    Formats.FILE.hint(", which holds the PIN and at most one trailing newline"),
                    "File with the PIN of the PKCS#11 token. The broker reads the file at"
                            + " each login to the token.");

    static final Format<Pkcs11Uri> URI =
            Format.of(
                    "a PKCS#11 URI such as pkcs11:token=NAME;object=LABEL, with token, object and id only, and %2C for a comma",
                    Pkcs11Uri::parse);

    static final List<Setting<?>> TABLE = List.of(MODULE, PIN_FILE);

    static Optional<Pkcs11Settings> from(Values values) {
        Optional<Password> pin = Password.inFile(values, PIN_FILE);
        Optional<Path> module = values.find(MODULE);
        if (module.isEmpty() && pin.isPresent()) {
            throw new InvalidSettings(
                    "PKCS11_PIN_FILE is set, but PKCS11_MODULE is not: set PKCS11_MODULE, or"
                            + " remove PKCS11_PIN_FILE");
        }
        return module.map(library -> new Pkcs11Settings(library, pin));
    }

    /** Rejects a PKCS#11 URI if no library is configured that could find its key. */
    static <T> void require(Values values, Setting<T> keys) {
        values.find(keys)
                .filter(_ -> values.written(MODULE).isEmpty())
                .ifPresent(_ -> {
                    throw new InvalidSettings(
                            "%s is set, but PKCS11_MODULE is not: set PKCS11_MODULE to the path of the PKCS#11 library"
                                    .formatted(keys.name()));
                });
    }
}
