package io.mintmark.deployment;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;

/** The launcher with a jar beside it that leads to the classes under test. */
record Installation(Path directory) {
    private static final Path LAUNCHER = Path.of("src", "main", "launcher", "mintmark");

    static Installation in(Path directory) throws IOException {
        Installation installation = new Installation(Files.createDirectories(directory));
        installation.launcher("NEEDED=25");
        try (OutputStream out = Files.newOutputStream(installation.jar())) {
            new JarOutputStream(out, manifest()).close();
        }
        return installation;
    }

    private static Manifest manifest() {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, "io.mintmark.Main");
        attributes.putValue("Enable-Native-Access", "ALL-UNNAMED");
        attributes.put(
                Attributes.Name.CLASS_PATH,
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                        .map(entry -> Path.of(entry).toUri().toString())
                        .collect(Collectors.joining(" ")));
        return manifest;
    }

    Path launcher() {
        return directory.resolve("mintmark");
    }

    Path jar() {
        return directory.resolve("mintmark.jar");
    }

    Path cache() {
        return directory.resolve("mintmark.aot");
    }

    /** The launcher, with another line in the place of the one that says which Java it needs. */
    void launcher(String needed) throws IOException {
        executable(launcher(), Files.readString(LAUNCHER).replace("NEEDED=25", needed));
    }

    /** Writes a script. */
    static void executable(Path file, String content) throws IOException {
        Files.writeString(file, content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
