package io.mintmark.wiring;

import java.util.Optional;

/** Which build this is: the version of {@code pom.xml}, as its jar says. */
public final class ProgramVersion {
    private ProgramVersion() {}

    /** There is none where classes run without their jar. */
    public static Optional<String> current() {
        return Optional.ofNullable(ProgramVersion.class.getPackage().getImplementationVersion());
    }

    /** For people. */
    public static String shown() {
        return current().orElse("development");
    }
}
