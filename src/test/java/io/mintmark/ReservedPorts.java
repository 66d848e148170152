package io.mintmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * TCP ports for the servers of tests. A port belongs to the JVM that asked for it until that JVM
 * ends: no other test JVM of this user gets it, of whatever checkout. Byte N of a file in the
 * temporary folder is locked for port N, so that a JVM that is killed keeps nothing.
 *
 * <p>The ports are below those that systems give to whoever connects, so no connection takes one.
 */
public final class ReservedPorts {
    static final int FIRST = 10_000;

    /** Systems begin with 32768; {@code .ci/postgres} takes those between. */
    static final int LAST = 32_000;

    /** Neighbours begin far from each other, so that a port is seldom asked for twice. */
    private static final int STRIDE = 997;

    private static final ReservedPorts OF_THIS_JVM =
            new ReservedPorts(
                    FIRST + (int) (ProcessHandle.current().pid() * STRIDE % (LAST - FIRST)));

    private final FileChannel channel;

    /** Never released: a server that was stopped may be started again on its port. */
    private final List<FileLock> held = new ArrayList<>();

    private int last;

    /**
     * Reserves ports after one. There is one of these in each JVM: the system forgets its locks
     * when it closes any channel of the file.
     */
    ReservedPorts(int last) {
        this.last = last;
        String file = "mintmark-test-ports-" + System.getProperty("user.name");
        try {
            channel =
                    FileChannel.open(
                            Path.of(System.getProperty("java.io.tmpdir"), file),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException("The file that reserves ports can't be opened", e);
        }
    }

    /** A port that nothing listens on. Each call returns another. */
    public static int next() {
        return OF_THIS_JVM.reserve();
    }

    synchronized int reserve() {
        for (int tried = FIRST; tried < LAST; tried++) {
            last = last + 1 < LAST ? last + 1 : FIRST;
            if (isReserved(last)) {
                return last;
            }
        }
        throw new IllegalStateException(
                "All ports from %d to %d are taken".formatted(FIRST, LAST - 1));
    }

    private boolean isReserved(int port) {
        try {
            Optional<FileLock> lock =
                    held.stream().anyMatch(each -> each.position() == port)
                            ? Optional.empty()
                            : Optional.ofNullable(channel.tryLock(port, 1, false));
            if (lock.isEmpty()) {
                return false;
            }
            held.add(lock.get());
            return isFree(port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** On some systems a listener on one address doesn't keep others from listening on all. */
    private static boolean isFree(int port) {
        return canListen(new InetSocketAddress(port))
                && canListen(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private static boolean canListen(InetSocketAddress address) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(address);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
