package io.mintmark;

import com.sun.management.OperatingSystemMXBean;

import java.lang.management.ManagementFactory;
import java.time.Duration;

/** The CPU time of this process, which other processes don't lengthen as they do the clock's. */
public final class Processor {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Processor() {}

    /** Used until now, by all threads. */
    public static Duration used() {
        return Duration.ofNanos(SYSTEM.getProcessCpuTime());
    }
}
