package io.mintmark.benchmark;

import io.mintmark.benchmark.BrokerJar.Start;
import io.mintmark.endtoend.RunningBroker;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

/** What no broker on the same server can start faster than: the server alone, with its jars. */
final class EmptyStarts {
    private static final String ENTRY = EmptyServer.class.getName().replace('.', '/') + ".class";

    private EmptyStarts() {}

    /** Prints how long it takes as it is, and with an AOT cache of its own. */
    static void print(int rounds) throws IOException, InterruptedException {
        Path cache = Files.createTempDirectory("mintmark-load").resolve("empty.aot");
        String classPath = jar() + File.pathSeparator + Path.of("target", "mintmark.jar");
        print("an empty server", classPath, List.of(), rounds);
        var _ = start(classPath, List.of("-XX:AOTCacheOutput=" + cache));
        print(
                "an empty server with an AOT cache",
                classPath,
                List.of("-XX:AOTCache=" + cache, "-XX:AOTMode=on"),
                rounds);
        Files.delete(cache);
    }

    private static void print(String what, String classPath, List<String> options, int rounds)
            throws IOException, InterruptedException {
        List<Start> starts = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            starts.add(start(classPath, options));
        }
        System.out.printf("| %s | %s |%n", what, Starts.line(starts));
    }

    private static Start start(String classPath, List<String> options)
            throws IOException, InterruptedException {
        Map<String, String> port =
                Map.of("SERVER_PORT", Integer.toString(RunningBroker.freePort()));
        List<String> all = new ArrayList<>(List.of("-Xmx256m", "-XX:+UseSerialGC"));
        all.addAll(options);
        try (BrokerJar server = BrokerJar.start(EmptyServer.class, classPath, all, port)) {
            return server.start();
        }
    }

    /** A cache is only made of classes that are in jars. */
    private static Path jar() throws IOException {
        Path jar = Files.createTempFile("mintmark-load", ".jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                InputStream in = EmptyServer.class.getResourceAsStream("/" + ENTRY)) {
            out.putNextEntry(new JarEntry(ENTRY));
            in.transferTo(out);
        }
        return jar;
    }
}
