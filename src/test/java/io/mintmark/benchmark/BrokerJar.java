package io.mintmark.benchmark;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;

import io.mintmark.Unchecked;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** The jar, started as operators start it, in a process whose use of the machine is read. */
final class BrokerJar implements AutoCloseable {
    private static final String HEALTH = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private final Process process;
    private final Start start;
    private @Nullable JMXConnector management;

    private BrokerJar(Process process, Start start) {
        this.process = process;
        this.start = start;
    }

    /**
     * What it took from the start of the process to its first 200.
     *
     * @param clock as its users see it
     * @param processor of its threads
     */
    record Start(Duration clock, Duration processor) {}

    /**
     * Starts it and waits for its first answer.
     *
     * @param program a jar, or a launcher
     * @param options of the JVM, for a jar
     */
    static BrokerJar start(Path program, List<String> options, Map<String, String> environment)
            throws IOException, InterruptedException {
        return start(command(program, options), environment);
    }

    private static BrokerJar start(List<String> command, Map<String, String> environment)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        // Helidon forbids deserialising anything, and the question about allocation is an object
        builder.environment()
                .put(
                        "JAVA_TOOL_OPTIONS",
                        "-Dhelidon.serialFilter.pattern=javax.management.*;java.rmi.*;java.lang.*");
        Path log = Files.createTempFile("mintmark-load", ".log");
        builder.redirectErrorStream(true).redirectOutput(log.toFile());
        long began = System.nanoTime();
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        await(process, Integer.parseInt(environment.get("SERVER_PORT")), log);
        Duration taken = Duration.ofNanos(System.nanoTime() - began);
        return new BrokerJar(process, new Start(taken, processorTime(process)));
    }

    private static List<String> command(Path program, List<String> options) {
        if (!program.toString().endsWith(".jar")) {
            return List.of(program.toAbsolutePath().toString());
        }
        List<String> command = new ArrayList<>();
        command.add(java());
        command.addAll(options);
        command.addAll(List.of("-jar", program.toString()));
        return command;
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static void await(Process process, int port, Path log)
            throws IOException, InterruptedException {
        while (!answers(port)) {
            if (!process.isAlive()) {
                throw new IllegalStateException(Files.readString(log));
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private static boolean answers(int port) {
        try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port)) {
            socket.getOutputStream().write(HEALTH.getBytes(StandardCharsets.US_ASCII));
            byte[] line = socket.getInputStream().readNBytes(12);
            return new String(line, StandardCharsets.US_ASCII).endsWith(" 200");
        } catch (IOException e) {
            return false;
        }
    }

    /** Asked for late, since the agent that answers is work for a process that has just begun. */
    private MBeanServerConnection management() throws IOException {
        JMXConnector connector = management;
        if (connector == null) {
            connector = connect(process);
            management = connector;
        }
        return connector.getMBeanServerConnection();
    }

    @SuppressWarnings("BanJNDI") // a process that this one started
    private static JMXConnector connect(Process process) throws IOException {
        try {
            VirtualMachine machine = VirtualMachine.attach(Long.toString(process.pid()));
            String address = machine.startLocalManagementAgent();
            machine.detach();
            return JMXConnectorFactory.connect(new JMXServiceURL(address));
        } catch (AttachNotSupportedException e) {
            throw new IOException(e);
        }
    }

    Start start() {
        return start;
    }

    /** What it has used so far. */
    Duration processorTime() {
        return processorTime(process);
    }

    private static Duration processorTime(Process process) {
        return process.info().totalCpuDuration().orElseThrow();
    }

    /** Bytes that its threads have allocated so far. */
    long allocated() {
        return (long) attribute("java.lang:type=Threading", "TotalThreadAllocatedBytes");
    }

    int threads() {
        return (int) attribute("java.lang:type=Threading", "ThreadCount");
    }

    /** What is left of the heap after a collection, in MiB. */
    double liveMebibytes() {
        Unchecked.run(() ->
                management().invoke(new ObjectName("java.lang:type=Memory"), "gc", null, null));
        Object usage = attribute("java.lang:type=Memory", "HeapMemoryUsage");
        return (long) ((CompositeData) usage).get("used") / 1048576.0;
    }

    private Object attribute(String bean, String name) {
        return Unchecked.call(() -> management().getAttribute(new ObjectName(bean), name));
    }

    /** Memory that it holds now, in MiB, heap and all. */
    long residentMebibytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                .findFirst()
                .orElseThrow();
    }

    long openFiles() throws IOException {
        try (var files = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
            return files.count();
        }
    }

    @Override
    public void close() throws IOException {
        if (management != null) {
            management.close();
        }
        process.destroy();
        process.onExit().join();
    }
}
