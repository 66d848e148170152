package io.mintmark.metrics;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** What the process and its JVM use, and which build it is. */
final class ProcessLevels {
    private static final double MILLIS_A_SECOND = 1_000;
    private static final double NANOS_A_SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long UNKNOWN = -1;

    private final Meters meters;

    ProcessLevels(Meters meters) {
        this.meters = meters;
    }

    void show(String version, String signatures) {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        memory("heap", memory::getHeapMemoryUsage);
        memory("other", memory::getNonHeapMemoryUsage);
        meters.show(Metric.JVM_GC_SECONDS, ProcessLevels::collecting);
        meters.show(Metric.JVM_THREADS, () -> ManagementFactory.getThreadMXBean().getThreadCount());
        meters.show(Metric.PROCESS_CPU_SECONDS, ProcessLevels::computing);
        meters.show(
                Metric.PROCESS_OPEN_FILES,
                () -> files(UnixOperatingSystemMXBean::getOpenFileDescriptorCount));
        meters.show(
                Metric.PROCESS_MAX_FILES,
                () -> files(UnixOperatingSystemMXBean::getMaxFileDescriptorCount));
        double started = ManagementFactory.getRuntimeMXBean().getStartTime() / MILLIS_A_SECOND;
        meters.show(Metric.PROCESS_START_TIME_SECONDS, () -> started);
        meters.show(Metric.BUILD_INFO, () -> 1, version, Runtime.version().toString(), signatures);
    }

    private void memory(String area, Supplier<MemoryUsage> usage) {
        meters.show(Metric.JVM_MEMORY_BYTES, () -> usage.get().getUsed(), area, "used");
        meters.show(Metric.JVM_MEMORY_BYTES, () -> usage.get().getCommitted(), area, "committed");
        meters.show(Metric.JVM_MEMORY_BYTES, () -> usage.get().getMax(), area, "max");
    }

    private static double collecting() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                        .filter(millis -> millis > 0)
                        .sum()
                / MILLIS_A_SECOND;
    }

    private static double computing() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean os
                ? os.getProcessCpuTime() / NANOS_A_SECOND
                : UNKNOWN;
    }

    private static long files(ToLongFunction<UnixOperatingSystemMXBean> number) {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean os
                ? number.applyAsLong(os)
                : UNKNOWN;
    }
}
