package io.mintmark.metrics;

import java.util.List;
import java.util.Locale;

/** Every metric there is, in the order of {@code docs/operations.md}, which a test compares. */
enum Metric {
    REQUESTS(
            Kind.COUNTER,
            List.of("route", "status"),
            "Answers of the public port; route is one of the interface's, or none."),
    REQUEST(
            Kind.TIMER,
            List.of("route", "status"),
            "How long answers of the public port took, from the request's headers on."),
    REFUSALS(
            Kind.COUNTER,
            List.of("reason"),
            "Requests for credentials or keys that were refused, by the word of details.reason."),
    MINTS(
            Kind.COUNTER,
            List.of("tenant", "type", "outcome"),
            "Credentials that a provider was asked for, by what became of them."),
    PROVIDER_CALL(Kind.TIMER, List.of("type", "outcome"), "How long the access provider took."),
    TOKEN_VERIFICATION(
            Kind.TIMER,
            List.of(),
            "How long a token's examination took, waiting for its issuer's keys included."),
    KEY_SET_FETCH(Kind.TIMER, List.of("outcome"), "Fetches of issuers' keys."),
    CATALOGUE_LOAD(
            Kind.TIMER,
            List.of("outcome"),
            "Questions to the database about tenants, keys and grants."),
    CATALOGUE_AGE_SECONDS(Kind.GAUGE, List.of(), "Since the database last told what tenants have."),
    AUDIT_QUEUE(
            Kind.GAUGE,
            List.of("queue"),
            "Requests that wait for their audit rows (mints), and rows of refused tokens (rejections)."),
    AUDIT_COMMIT(
            Kind.TIMER,
            List.of("outcome"),
            "Commits of the audit log, each for all requests that waited."),
    AUDIT_LOSSES(
            Kind.COUNTER,
            List.of("cause"),
            "Times that the database lacked a row of the audit log which it had confirmed."),
    CHECKPOINT_AGE_SECONDS(
            Kind.GAUGE, List.of(), "Since the last checkpoint of the audit log, of any replica."),
    UNRESOLVED_MINTS(
            Kind.GAUGE,
            List.of(),
            "Mints over a minute old without outcome, of all replicas: audit.unresolved lists them."),
    HEALTHY(
            Kind.GAUGE,
            List.of("check"),
            "Whether what a replica needs in order to serve is there: 1, or 0 and it is unready."),
    DATABASE_CONNECTIONS(Kind.GAUGE, List.of("state"), "Connections of the pool."),
    DATABASE_WAITING(Kind.GAUGE, List.of(), "Threads that wait for a connection."),
    JVM_MEMORY_BYTES(Kind.GAUGE, List.of("area", "state"), "Memory of the JVM, heap and other."),
    JVM_GC_SECONDS(Kind.GAUGE, List.of(), "Time spent collecting garbage since the start."),
    JVM_THREADS(Kind.GAUGE, List.of(), "Platform threads."),
    PROCESS_CPU_SECONDS(Kind.GAUGE, List.of(), "Processor time used since the start."),
    PROCESS_OPEN_FILES(Kind.GAUGE, List.of(), "File handles in use; -1 where nobody knows."),
    PROCESS_MAX_FILES(
            Kind.GAUGE, List.of(), "File handles that may be in use; -1 where nobody knows."),
    PROCESS_START_TIME_SECONDS(
            Kind.GAUGE, List.of(), "When the process was started, as a Unix time."),
    BUILD_INFO(
            Kind.GAUGE,
            List.of("version", "java", "signatures"),
            "Always 1; its labels say what runs, and whose code signs and verifies.");

    /** What may be done with it. */
    enum Kind {
        COUNTER("_total"),
        TIMER("_seconds"),
        GAUGE("");

        private final String suffix;

        Kind(String suffix) {
            this.suffix = suffix;
        }
    }

    private static final String PREFIX = "mintmark_";

    private final Kind kind;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> labels;

    private final String help;

    Metric(Kind kind, List<String> labels, String help) {
        this.kind = kind;
        this.labels = labels;
        this.help = help;
    }

    /** As the library wants it; it adds the suffix. */
    String registered() {
        return PREFIX + name().toLowerCase(Locale.ROOT);
    }

    /** As Prometheus shows it; a timer's samples have further suffixes. */
    String shown() {
        return registered() + kind.suffix;
    }

    Kind kind() {
        return kind;
    }

    List<String> labels() {
        return labels;
    }

    String help() {
        return help;
    }
}
