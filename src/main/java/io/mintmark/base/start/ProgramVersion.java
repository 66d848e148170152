package io.mintmark.base.start;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.util.Optional;
import java.util.jar.JarFile;

/** The version of this build: that of {@code pom.xml}, from the jar. */
public final class ProgramVersion {
    private ProgramVersion() {}

    /** There is none where classes run without their jar. */
    public static Optional<String> current() {
        return Optional.ofNullable(ProgramVersion.class.getPackage().getImplementationVersion());
    }

    /** The version for people. */
    public static String shown() {
        return current().orElse("development");
    }

    /** Version, commit and Java, as far as they are known. */
    public static String inFull() {
        return "mintmark %s%s, Java %s"
                .formatted(
                        shown(),
                        commit().map(id -> " (commit " + id + ")").orElse(""),
                        Runtime.version());
    }

    private static Optional<String> commit() {
        URL classes = ProgramVersion.class.getProtectionDomain().getCodeSource().getLocation();
        try (JarFile jar = new JarFile(new File(classes.toURI()))) {
            return Optional.ofNullable(
                    jar.getManifest().getMainAttributes().getValue("Implementation-Commit"));
        } catch (IOException | URISyntaxException e) {
            return Optional.empty(); // classes that run without their jar
        }
    }
}
