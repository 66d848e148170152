package io.mintmark.benchmark;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Clients that send one request after the other over connections that they keep. */
final class Load {
    private static final int STATUS_AT = "HTTP/1.1 ".length();

    /** Counted for a request that met a connection which the server had closed meanwhile. */
    private static final int CLOSED = 0;

    private final int port;
    private final Duration interval;

    /**
     * @param port of the broker, on this machine
     */
    Load(int port) {
        this(port, Duration.ZERO);
    }

    private Load(int port, Duration interval) {
        this.port = port;
        this.interval = interval;
    }

    /** The same, where each client begins a request in every interval, unless it still waits. */
    Load every(Duration interval) {
        return new Load(port, interval);
    }

    /** What came of it. */
    @SuppressWarnings("ArrayRecordComponent") // hundreds of thousands of numbers
    record Result(Map<Integer, Integer> statuses, long[] sortedNanos, Duration taken) {
        int answers() {
            return sortedNanos.length;
        }

        int with(int status) {
            return statuses.getOrDefault(status, 0);
        }

        double perSecond() {
            return answers() / (taken.toNanos() / 1e9);
        }

        /** Milliseconds within which this share of the answers came, in thousandths. */
        double within(int thousandths) {
            return sortedNanos[(int) ((sortedNanos.length - 1L) * thousandths / 1000)] / 1e6;
        }
    }

    /**
     * Sends for a time.
     *
     * @param requests what each client sends, by its number
     */
    Result run(int clients, Duration time, IntFunction<byte[]> requests) {
        long end = System.nanoTime() + time.toNanos();
        long began = System.nanoTime();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Client>> all =
                    IntStream.range(0, clients)
                            .mapToObj(n -> threads.submit(() -> client(requests.apply(n), end)))
                            .toList();
            List<Client> done = new ArrayList<>();
            for (Future<Client> each : all) {
                done.add(each.get());
            }
            return result(done, Duration.ofNanos(System.nanoTime() - began));
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException("the load can't be made", e);
        }
    }

    private static Result result(List<Client> clients, Duration taken) {
        Map<Integer, Integer> statuses = new TreeMap<>();
        clients.forEach(c -> c.statuses.forEach((s, n) -> statuses.merge(s, n, Integer::sum)));
        long[] nanos =
                clients.stream()
                        .flatMapToLong(c -> LongStream.of(Arrays.copyOf(c.nanos, c.count)))
                        .sorted()
                        .toArray();
        return new Result(statuses, nanos, taken);
    }

    private Client client(byte[] request, long end) throws IOException {
        Client client = new Client(interval);
        while (client.next < end && System.nanoTime() < end) {
            try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port)) {
                socket.setTcpNoDelay(true);
                InputStream in = new BufferedInputStream(socket.getInputStream(), 8192);
                client.talk(in, socket.getOutputStream(), request, end);
            }
        }
        return client;
    }

    private static final class Client {
        private final Map<Integer, Integer> statuses = new TreeMap<>();
        private final long interval;
        private long[] nanos = new long[1024];
        private int count;
        private long next = System.nanoTime();

        Client(Duration interval) {
            this.interval = interval.toNanos();
        }

        /** Until the end, or until the server wants to close the connection. */
        void talk(InputStream in, OutputStream out, byte[] request, long end) throws IOException {
            boolean kept = true;
            while (kept && next < end && System.nanoTime() < end) {
                LockSupport.parkNanos(next - System.nanoTime());
                long sent = System.nanoTime();
                next = Math.max(next + interval, sent);
                out.write(request);
                String head = head(in);
                if (head.isEmpty()) {
                    statuses.merge(CLOSED, 1, Integer::sum);
                    return;
                }
                in.skipNBytes(Long.parseLong(header(head, "content-length")));
                note(Integer.parseInt(head.substring(STATUS_AT, STATUS_AT + 3)), sent);
                kept = !header(head, "connection").equalsIgnoreCase("close");
            }
        }

        private void note(int status, long sent) {
            if (count == nanos.length) {
                nanos = Arrays.copyOf(nanos, 2 * count);
            }
            nanos[count++] = System.nanoTime() - sent;
            statuses.merge(status, 1, Integer::sum);
        }

        /** Nothing if the server has closed the connection. */
        private static String head(InputStream in) throws IOException {
            byte[] bytes = new byte[8192];
            int length = 0;
            while (length < 4
                    || bytes[length - 1] != '\n'
                    || bytes[length - 2] != '\r'
                    || bytes[length - 3] != '\n') {
                int next = in.read();
                if (next < 0 && length == 0) {
                    return "";
                }
                if (next < 0) {
                    throw new EOFException("half an answer");
                }
                bytes[length++] = (byte) next;
            }
            return new String(bytes, 0, length, StandardCharsets.US_ASCII);
        }

        private static String header(String head, String name) {
            int at = 0;
            String wanted = "\r\n" + name + ":";
            while (at + wanted.length() < head.length()) {
                if (head.regionMatches(true, at, wanted, 0, wanted.length())) {
                    int from = at + wanted.length();
                    return head.substring(from, head.indexOf('\r', from)).strip();
                }
                at++;
            }
            return name.equals("content-length") ? "0" : "";
        }
    }
}
