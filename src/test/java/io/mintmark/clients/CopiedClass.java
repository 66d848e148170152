package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.zaxxer.hikari.HikariDataSource;

import org.postgresql.Driver;
import org.slf4j.Logger;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

/** {@code src/clients/java}, as it compiles in a reader's own project: for Java 17. */
final class CopiedClass {
    private static final Path SOURCES = Path.of("src/clients/java");

    private CopiedClass() {}

    static Class<?> compiled(Path classes) throws Exception {
        String libraries =
                Stream.of(HikariDataSource.class, Driver.class, Logger.class)
                        .map(CopiedClass::jar)
                        .collect(Collectors.joining(File.pathSeparator));
        int status =
                ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "--release",
                                "17",
                                "-Xlint:all,-classfile,-path",
                                "-Werror",
                                "-proc:none",
                                "-classpath",
                                libraries,
                                "-d",
                                classes.toString(),
                                SOURCES.resolve("MintmarkLogin.java").toString(),
                                SOURCES.resolve("MintmarkBroker.java").toString());
        assertEquals(0, status, "it does not compile");
        URLClassLoader loader =
                new URLClassLoader(
                        new URL[] {classes.toUri().toURL()}, CopiedClass.class.getClassLoader());
        return loader.loadClass("io.mintmark.client.MintmarkLogin");
    }

    private static String jar(Class<?> type) {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath())
                .toString();
    }
}
