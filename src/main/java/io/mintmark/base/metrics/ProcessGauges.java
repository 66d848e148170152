package io.mintmark.base.metrics;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;

import io.mintmark.base.file.RereadFile;
import io.mintmark.base.health.HealthReport;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** What every process shows when it is scraped: threads, files, expiries, memory, its build. */
public final class ProcessGauges {
    private static final double MILLIS_A_SECOND = 1_000;

    private final Meters meters;

    public ProcessGauges(Meters meters) {
        this.meters = meters;
    }

    /** Shows what each check finds. */
    public void show(HealthReport health) {
        for (String check : health.checks()) {
            meters.show(
                    Metric.HEALTHY,
                    () -> health.findings().healthyByName().getOrDefault(check, false) ? 1 : 0,
                    check);
        }
    }

    /** Counts which background threads have died, and shows which stand still. */
    public void showThreads() {
        for (ThreadName name : ThreadName.values()) {
            meters.show(
                    Metric.THREAD_ROUND_SECONDS,
                    () -> seconds(BackgroundThread.longestRound(name)),
                    name.toString());
            meters.follow(
                    Metric.THREAD_DEATHS, () -> BackgroundThread.deaths(name), name.toString());
        }
    }

    /** Shows whether a file that is read again was rejected. */
    public void show(RereadFile file) {
        meters.show(Metric.FILE_REFUSED, () -> file.isRefused() ? 1 : 0, file.setting());
    }

    /**
     * Shows when the certificate of a port expires.
     *
     * @param setting that names its file
     */
    public void showNotAfter(String setting, Supplier<Instant> notAfter) {
        meters.show(
                Metric.NOT_AFTER_SECONDS, () -> notAfter.get().getEpochSecond(), setting, "", "");
    }

    /**
     * Shows how old the key is that is used now; NaN if that isn't known.
     *
     * @param setting that names its file
     */
    public void showKeyAge(String setting, Supplier<Optional<Duration>> age) {
        meters.show(
                Metric.KEY_AGE_SECONDS,
                () -> age.get().map(ProcessGauges::seconds).orElse(Double.NaN),
                setting);
    }

    private static double seconds(Duration time) {
        return time.toMillis() / MILLIS_A_SECOND;
    }

    /**
     * Shows what the process uses.
     *
     * @param version of the program
     * @param signatures whose code signs and verifies
     */
    public void show(String version, String signatures) {
        new ProcessLevels(meters).show(version, signatures);
    }

    /** Memory, threads and CPU of the process, and its build. */
    private static final class ProcessLevels {
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
            meters.show(
                    Metric.JVM_THREADS, () -> ManagementFactory.getThreadMXBean().getThreadCount());
            meters.show(Metric.PROCESS_CPU_SECONDS, ProcessLevels::computing);
            meters.show(
                    Metric.PROCESS_OPEN_FILES,
                    () -> files(UnixOperatingSystemMXBean::getOpenFileDescriptorCount));
            meters.show(
                    Metric.PROCESS_MAX_FILES,
                    () -> files(UnixOperatingSystemMXBean::getMaxFileDescriptorCount));
            double started = ManagementFactory.getRuntimeMXBean().getStartTime() / MILLIS_A_SECOND;
            meters.show(Metric.PROCESS_START_TIME_SECONDS, () -> started);
            meters.show(
                    Metric.BUILD_INFO, () -> 1, version, Runtime.version().toString(), signatures);
        }

        private void memory(String area, Supplier<MemoryUsage> usage) {
            meters.show(Metric.JVM_MEMORY_BYTES, () -> usage.get().getUsed(), area, "used");
            meters.show(
                    Metric.JVM_MEMORY_BYTES, () -> usage.get().getCommitted(), area, "committed");
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
            return ManagementFactory.getOperatingSystemMXBean()
                            instanceof UnixOperatingSystemMXBean os
                    ? number.applyAsLong(os)
                    : UNKNOWN;
        }
    }
}
