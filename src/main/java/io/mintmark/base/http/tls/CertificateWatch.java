package io.mintmark.base.http.tls;

import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import java.time.Duration;
import java.util.List;

/** Reads the certificates of a process's ports again every two seconds. */
public final class CertificateWatch implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofSeconds(2);

    private final List<PortTls> ports;
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.CERTIFICATES, PERIOD, this::look);

    /** A watch that isn't started yet. */
    public CertificateWatch(List<PortTls> ports) {
        this.ports = List.copyOf(ports);
    }

    /** Starts the thread, unless there is nothing to watch. */
    public void start() {
        if (!ports.isEmpty()) {
            var _ = thread.start();
        }
    }

    private Duration look() {
        ports.forEach(PortTls::look);
        return PERIOD;
    }

    @Override
    public void close() {
        thread.stop();
    }
}
