package io.mintmark.development;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Development mode as a process of its own, on free ports, in a directory without anything. */
final class DemoProcess implements AutoCloseable {
    private static final Duration START = Duration.ofMinutes(3);

    private final Map<DemoPorts.Port, Integer> ports = new EnumMap<>(DemoPorts.Port.class);
    private final Path output;
    private final Process process;

    private DemoProcess(Path directory) throws IOException {
        for (String source : new String[] {"db", "src"}) {
            Files.createSymbolicLink(directory.resolve(source), Path.of(source).toAbsolutePath());
        }
        String classes =
                Pattern.compile(File.pathSeparator)
                        .splitAsStream(System.getProperty("java.class.path"))
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .collect(Collectors.joining(File.pathSeparator));
        output = directory.resolve("demo.log");
        ProcessBuilder builder =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                classes,
                                Development.class.getName())
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        for (DemoPorts.Port port : DemoPorts.Port.values()) {
            int free = RunningBroker.freePort();
            ports.put(port, free);
            builder.environment().put(port.variable(), Integer.toString(free));
        }
        process = builder.start();
    }

    static DemoProcess start(Path directory) throws IOException {
        return new DemoProcess(directory);
    }

    /** What it printed until everything was up, or until it died. */
    String printed() {
        String[] last = new String[1];
        Eventually.holds(
                START,
                () -> last[0] = Unchecked.call(() -> Files.readString(output)),
                text -> text.contains("Mintmark is up.") || text.contains("died"));
        return last[0];
    }

    /** Where its console is. */
    String console() {
        return withPorts("http://localhost:" + DemoPorts.Port.CONSOLE.usual());
    }

    /** A text with its ports instead of the usual ones. */
    String withPorts(String text) {
        String replaced = text;
        for (Map.Entry<DemoPorts.Port, Integer> port : ports.entrySet()) {
            replaced = replaced.replace(":" + port.getKey().usual(), ":" + port.getValue());
        }
        return replaced;
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }
}
