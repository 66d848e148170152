package io.mintmark.broker.token;

import java.lang.management.ManagementFactory;

/** What is alive on this process's heap. */
public final class LiveHeap {
    private LiveHeap() {}

    /** Bytes, after a full collection. */
    public static long bytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
