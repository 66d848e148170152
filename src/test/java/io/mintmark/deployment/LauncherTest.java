package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What the launcher starts, told by Javas that print their arguments and end. */
@EnabledOnOs({OS.LINUX, OS.MAC})
class LauncherTest {
    private static final String SYSTEM_PATH = "/usr/bin:/bin";

    /** The bytes of an archive that a run left which served, or failed to start. */
    private static final long SERVED = 30_000_000;

    private static final long FAILED = 14_000_000;

    /** Prints which Java it is, then its arguments, each in a line of its own. */
    private static final String TELLING_JAVA =
            """
            #!/bin/sh
            echo "$0"
            for argument in "$@"; do echo "$argument"; done
            """;

    @TempDir private Path directory;
    private Installation installed;

    @BeforeEach
    void install() throws IOException {
        installed = Installation.in(directory.resolve("an app in a place with spaces"));
    }

    private Path java(String name, String version) throws IOException {
        Path home = directory.resolve(name);
        Files.createDirectories(home.resolve("bin"));
        Installation.executable(home.resolve("bin").resolve("java"), TELLING_JAVA);
        Files.writeString(
                home.resolve("release"),
                "IMPLEMENTOR=\"Somebody\"\nJAVA_VERSION=\"%s\"\nOS_NAME=\"Linux\"\n"
                        .formatted(version));
        return home;
    }

    private record Ran(int status, List<String> output, String errors) {
        Path java() {
            return Path.of(output.getFirst());
        }
    }

    private Ran run(Map<String, String> environment, Path launcher, String... arguments)
            throws Exception {
        List<String> command =
                Stream.concat(Stream.of(launcher.toString()), Stream.of(arguments)).toList();
        Path errors = directory.resolve("errors");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(directory.toFile())
                        .redirectError(errors.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", SYSTEM_PATH);
        builder.environment().putAll(environment);
        Process process = builder.start();
        List<String> output = process.inputReader().lines().toList();
        return new Ran(process.waitFor(), output, Files.readString(errors));
    }

    private Ran run(Path home, String... arguments) throws Exception {
        return run(Map.of("JAVA_HOME", home.toString()), installed.launcher(), arguments);
    }

    @Test
    void the_java_of_java_home_goes_before_the_one_on_the_path() throws Exception {
        Path given = java("given", "25.0.3");
        Path onPath = java("on path", "25");
        Ran ran =
                run(
                        Map.of("JAVA_HOME", given.toString(), "PATH", path(onPath)),
                        installed.launcher());

        assertEquals(given.resolve("bin").resolve("java"), ran.java());
        assertEquals("", ran.errors());
    }

    private static String path(Path home) {
        return home.resolve("bin") + ":" + SYSTEM_PATH;
    }

    @Test
    void a_java_that_is_too_old_is_passed_over_wherever_it_is() throws Exception {
        for (String old : List.of("17.0.2", "1.8.0_402", "24", "")) {
            Path onPath = java("on path", "26-ea");
            Ran ran =
                    run(
                            Map.of("JAVA_HOME", java("old", old).toString(), "PATH", path(onPath)),
                            installed.launcher());

            assertEquals(onPath.resolve("bin").resolve("java"), ran.java(), old);
        }
    }

    @Test
    void the_path_may_lead_to_a_java_through_links() throws Exception {
        Path home = java("real", "25.0.1");
        Path links = Files.createDirectory(directory.resolve("links"));
        Path alternative =
                Files.createSymbolicLink(
                        directory.resolve("alternative"), home.resolve("bin").resolve("java"));
        Files.createSymbolicLink(
                links.resolve("java"), Path.of("..").resolve(alternative.getFileName()));
        Ran ran = run(Map.of("PATH", links + ":" + SYSTEM_PATH), installed.launcher());

        assertEquals(home.resolve("bin").resolve("java"), ran.java());
    }

    @Test
    void a_java_in_the_home_directory_is_found() throws Exception {
        Path jdks = Files.createDirectory(directory.resolve(".jdks"));
        Path home = java(jdks.resolve("temurin-99").toString(), "99");
        installed.launcher("NEEDED=99");
        Ran ran = run(Map.of("HOME", directory.toString()), installed.launcher());

        assertEquals(home.resolve("bin").resolve("java"), ran.java());
    }

    /** No machine has a Java 99. */
    @Test
    void without_a_java_one_line_says_what_to_install() throws Exception {
        installed.launcher("NEEDED=99");
        Ran ran = run(java("present", "25"));

        assertEquals(1, ran.status());
        assertEquals(List.of(), ran.output());
        assertEquals(1, ran.errors().lines().count(), ran.errors());
        assertTrue(ran.errors().startsWith("mintmark: no Java 99 was found"), ran.errors());
        assertTrue(ran.errors().contains("install a JRE or JDK 99"), ran.errors());
    }

    @Test
    void the_programs_arguments_arrive_as_they_were_given() throws Exception {
        List<String> given = List.of("audit", "verify", "--keys", "a  b", "", "*", "$HOME", "'\"");
        List<String> arguments = run(java("j", "25"), given.toArray(String[]::new)).output();

        int jar = arguments.indexOf("-jar");
        assertEquals(installed.jar().toString(), arguments.get(jar + 1));
        assertEquals(given, arguments.subList(jar + 2, arguments.size()));
    }

    @Test
    void it_is_found_through_links_and_on_the_path() throws Exception {
        Path home = java("j", "25");
        Path bin = Files.createDirectory(directory.resolve("bin"));
        Path relative = directory.relativize(installed.launcher());
        Files.createSymbolicLink(bin.resolve("linked"), Path.of("..").resolve(relative));
        Path twice = Files.createSymbolicLink(bin.resolve("twice"), Path.of("linked"));

        assertTrue(isOfTheApp(run(home)));
        assertTrue(isOfTheApp(run(Map.of("JAVA_HOME", home.toString()), twice.toAbsolutePath())));
        assertTrue(
                isOfTheApp(
                        run(
                                Map.of(
                                        "JAVA_HOME", home.toString(),
                                        "CDPATH", directory.toString(),
                                        "PATH", bin + ":" + SYSTEM_PATH),
                                Path.of("/usr/bin/env"),
                                "linked")));
    }

    private boolean isOfTheApp(Ran ran) throws IOException {
        int jar = ran.output().indexOf("-jar");
        return installed.jar().toRealPath().toString().equals(ran.output().get(jar + 1));
    }

    @Test
    void java_opts_are_words_that_come_after_what_is_chosen() throws Exception {
        Map<String, String> environment =
                new HashMap<>(Map.of("JAVA_HOME", java("j", "25").toString()));
        environment.put("JAVA_OPTS", "-Xmx300m  -Dall=*");
        List<String> arguments = run(environment, installed.launcher()).output();

        int jar = arguments.indexOf("-jar");
        assertEquals(List.of("-Xmx300m", "-Dall=*"), arguments.subList(jar - 2, jar));
        assertTrue(arguments.subList(0, jar - 2).stream().anyMatch(it -> it.startsWith("-Xmx")));
    }

    @Test
    void a_collector_that_java_opts_names_is_the_only_one() throws Exception {
        Map<String, String> environment =
                new HashMap<>(Map.of("JAVA_HOME", java("j", "25").toString()));

        environment.put("JAVA_OPTS", "-XX:+UseNUMA -Dabout=GC");
        assertEquals(List.of("-XX:+UseSerialGC"), collectors(environment));
        environment.put("JAVA_OPTS", "-Xmx300m -XX:+UseG1GC -Dall=*");
        assertEquals(List.of("-XX:+UseG1GC"), collectors(environment));
    }

    private List<String> collectors(Map<String, String> environment) throws Exception {
        return run(environment, installed.launcher()).output().stream()
                .filter(it -> it.startsWith("-XX:+Use") && it.endsWith("GC"))
                .toList();
    }

    /** The JVM looks at the machine and its control groups too, with code of its own. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void the_heap_is_half_of_the_memory_and_at_most_a_gibibyte() throws Exception {
        long memory =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                        .getTotalMemorySize();
        String heap = "-Xmx%dm".formatted(Math.min(1024, (memory >> 20) / 2));
        List<String> arguments = run(java("j", "25")).output();

        assertEquals(
                List.of(heap), arguments.stream().filter(it -> it.startsWith("-Xmx")).toList());
    }

    @Test
    void the_aot_cache_goes_before_an_archive() throws Exception {
        Path home = java("j", "25");
        archive(directory("caches"), SERVED);
        Files.createFile(installed.cache());

        assertEquals(List.of("-XX:AOTCache=" + installed.cache()), caches(home, Map.of()));
    }

    private Path directory(String name) throws IOException {
        return Files.createDirectories(directory.resolve(name));
    }

    /** An archive as the JVM would leave it for this jar. */
    private Path archive(Path place, long size) throws IOException {
        Path archive = place.resolve("mintmark-%s.jsa".formatted(checksum()));
        try (RandomAccessFile file = new RandomAccessFile(archive.toFile(), "rw")) {
            file.writeInt(0xF00BABA8);
            file.setLength(size);
        }
        return archive;
    }

    private String checksum() throws IOException {
        Process cksum = new ProcessBuilder("cksum").redirectInput(installed.jar().toFile()).start();
        return new String(cksum.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                .split(" ", -1)[0];
    }

    private List<String> caches(Path home, Map<String, String> changes, String... arguments)
            throws Exception {
        Map<String, String> environment = new HashMap<>(Map.of("JAVA_HOME", home.toString()));
        environment.putAll(changes);
        return run(environment, installed.launcher(), arguments).output().stream()
                .filter(it ->
                        it.startsWith("-XX:") && (it.contains("AOT") || it.contains("Archive")))
                .toList();
    }

    @Test
    void a_run_that_serves_leaves_an_archive_where_it_may_write() throws Exception {
        Path home = java("j", "25");
        Path beside = installed.directory().resolve("mintmark-%s.jsa".formatted(checksum()));
        Path of = directory("caches");
        String create = "-XX:+AutoCreateSharedArchive";

        assertEquals(List.of("-XX:SharedArchiveFile=" + beside, create), caches(home, Map.of()));
        assertEquals(
                List.of("-XX:SharedArchiveFile=" + of.resolve(beside.getFileName()), create),
                caches(home, Map.of("CACHE_DIRECTORY", of.toString()), "serve"));
        assertEquals(List.of(), caches(home, Map.of(), "check"));
        Map<String, String> elsewhere =
                Map.of("CACHE_DIRECTORY", directory.resolve("missing").toString());
        assertEquals(List.of(), caches(home, elsewhere));
    }

    @Test
    void every_command_starts_from_the_archive() throws Exception {
        Path home = java("j", "25");
        Path archive = archive(installed.directory(), SERVED);

        assertEquals(List.of("-XX:SharedArchiveFile=" + archive), caches(home, Map.of(), "check"));
        assertEquals(2, caches(home, Map.of()).size());
        assertTrue(Files.exists(archive));
    }

    @Test
    void half_an_archive_and_those_of_failed_starts_and_other_jars_are_not_used() throws Exception {
        Path home = java("j", "25");
        Path archive = archive(installed.directory(), FAILED);
        assertUnused(home, archive);
        archive(installed.directory(), SERVED);
        try (RandomAccessFile file = new RandomAccessFile(archive.toFile(), "rw")) {
            file.writeInt(0); // the header is written last
        }
        assertUnused(home, archive);
        archive(installed.directory(), SERVED);
        Files.setLastModifiedTime(archive, FileTime.fromMillis(0));
        assertUnused(home, archive);
        Path other = installed.directory().resolve("mintmark-1.jsa");
        Files.copy(archive(installed.directory(), SERVED), other);
        Files.delete(archive);
        assertUnused(home, other);
    }

    private void assertUnused(Path home, Path archive) throws Exception {
        assertEquals(List.of(), caches(home, Map.of(), "check"));
        assertTrue(Files.exists(archive));
        assertEquals(2, caches(home, Map.of()).size());
        assertFalse(Files.exists(archive));
    }

    @Test
    void a_cache_that_java_opts_names_is_the_only_one() throws Exception {
        Path home = java("j", "25");
        Files.createFile(installed.cache());
        for (String option : List.of("-XX:AOTCacheOutput=a", "-XX:SharedArchiveFile=a")) {
            assertEquals(List.of(option), caches(home, Map.of("JAVA_OPTS", "-Xmx300m " + option)));
        }
        assertEquals(List.of(), caches(home, Map.of("JAVA_OPTS", "-Xshare:off")));
    }
}
