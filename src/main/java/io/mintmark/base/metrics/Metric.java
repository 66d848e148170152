package io.mintmark.base.metrics;

import java.util.List;
import java.util.Locale;

/** All metrics. Their help texts are the reference: {@code /observe/metrics} prints them. */
public enum Metric {
    REQUESTS(
            Kind.COUNTER,
            List.of("route", "status"),
            "Responses of the public port; route is a route of the HTTP API, or none."),
    REQUEST(
            Kind.TIMER,
            List.of("route", "status"),
            "Time from a request's headers to the end of its response, on the public port."),
    FORWARDING_IGNORED(
            Kind.COUNTER,
            List.of(),
            "Requests with X-Forwarded-For or Forwarded from a private address that TRUSTED_PROXIES"
                    + " doesn't list."),
    REFUSALS(
            Kind.COUNTER,
            List.of("reason"),
            "Rejected and denied requests for credentials or key lists, by details.reason."),
    FAILURES(
            Kind.COUNTER,
            List.of("part"),
            "Requests that failed because of the database, an issuer's keys, a tenant's limit, this"
                    + " replica, or an internal error."),
    MINTS(
            Kind.COUNTER,
            List.of("tenant", "type", "outcome"),
            "Credentials requested from providers, by outcome."),
    BREAK_GLASS(
            Kind.COUNTER,
            List.of(),
            "Grants that subjects got without an approval, by rules with break_glass."),
    NOTICES(
            Kind.COUNTER,
            List.of("outcome"),
            "Attempts to send a notice about a request for access to its tenant's notice_url:"
                    + " sent, failed and retried, or dropped."),
    SHORT_CREDENTIALS(
            Kind.COUNTER,
            List.of("tenant", "type"),
            "Credentials that providers gave for a much shorter time than requested."),
    PROVIDER_CALL(Kind.TIMER, List.of("type", "outcome"), "Time of calls to access providers."),
    TOKEN_VERIFICATION(
            Kind.TIMER,
            List.of(),
            "Time to verify a token, including the wait for its issuer's keys."),
    KEY_SET_FETCH(Kind.TIMER, List.of("outcome"), "Fetches of issuers' keys."),
    ISSUER_FAILING_SECONDS(
            Kind.GAUGE,
            List.of("tenant", "issuer"),
            "Time from the first failed fetch of an issuer's keys to the last one. tenant is a tenant that needs the keys. At most 100 issuers, five for each tenant."),
    CATALOGUE_LOAD(
            Kind.TIMER, List.of("outcome"), "Database queries for tenants, keys and grants."),
    CATALOGUE_AGE_SECONDS(
            Kind.GAUGE,
            List.of(),
            "Time since the database last confirmed the cached configuration."),
    AUDIT_QUEUE(
            Kind.GAUGE,
            List.of("queue"),
            "Requests (mints) and rejected tokens (rejections) whose audit rows are not written"
                    + " yet."),
    AUDIT_COMMIT(
            Kind.TIMER,
            List.of("outcome"),
            "Commits of the audit log. A commit writes the rows of up to 128 waiting requests."),
    AUDIT_LOSSES(
            Kind.COUNTER,
            List.of("cause"),
            "How often the database lacked a row of the audit log or of the configuration's history that the replica had written or read."),
    CHECKPOINT_AGE_SECONDS(
            Kind.GAUGE,
            List.of(),
            "Time since the last checkpoint of the audit log by any replica."),
    AUDIT_UNWITNESSED_SECONDS(
            Kind.GAUGE,
            List.of(),
            "Age of the newest checkpoint that a quorum of witnesses cosigned; absent without `AUDIT_WITNESS_POLICY`."),
    UNRESOLVED_MINTS(
            Kind.GAUGE,
            List.of(),
            "Mints of all replicas that have had no outcome for over a minute; see audit.unresolved."),
    ENDINGS(
            Kind.COUNTER,
            List.of("type", "result"),
            "Attempts to end a mint's credential, or to remove what it left, at the provider."),
    ENDINGS_OPEN(
            Kind.GAUGE,
            List.of(),
            "Mints of all replicas whose credentials are due to be ended at the provider; see audit.unended."),
    ENDINGS_OLDEST_SECONDS(
            Kind.GAUGE,
            List.of(),
            "Time since the oldest mint that must be ended became due; 0 if there is none."),
    HEALTHY(
            Kind.GAUGE,
            List.of("check"),
            "1 if a health check passes; 0 if it fails, and the replica is then unready."),
    CONSOLE_REQUESTS(
            Kind.COUNTER,
            List.of("outcome"),
            "Responses of the console: succeeded, redirected, refused (400 to 499) or failed."),
    CONSOLE_REQUEST(
            Kind.TIMER,
            List.of("outcome"),
            "Time from a request's headers to the end of its response, on the console."),
    CONSOLE_LOGINS(
            Kind.COUNTER,
            List.of("outcome"),
            "Logins at the console that the identity provider sent back: succeeded or failed."),
    CONSOLE_HEALTHY(
            Kind.GAUGE,
            List.of("check"),
            "1 if a health check of the console passes; 0 if it fails, and the console is then unready."),
    THREAD_DEATHS(
            Kind.COUNTER,
            List.of("thread"),
            "Background threads that ended unexpectedly; liveness fails until a restart."),
    THREAD_ROUND_SECONDS(
            Kind.GAUGE,
            List.of("thread"),
            "Time since a background thread began its current round; 0 while the thread pauses."),
    FILE_REFUSED(
            Kind.GAUGE,
            List.of("file"),
            "1 if the new contents of a file were rejected and the former contents stay in use; 0 otherwise. file is the setting that names the file."),
    NOT_AFTER_SECONDS(
            Kind.GAUGE,
            List.of("file", "tenant", "provider"),
            "Unix time at which a certificate expires. file is the setting that names the certificate of a port or access provider. For access providers, only the 100 certificates that expire first."),
    KEY_AGE_SECONDS(
            Kind.GAUGE,
            List.of("file"),
            "Age of the key that is used now. file is the setting that names the key. The age of a signing key counts from the day in its file name. The age of any other key counts from the time at which its file was written."),
    DATABASE_CONNECTIONS(Kind.GAUGE, List.of("state"), "Connections of the database pool."),
    DATABASE_WAITING(Kind.GAUGE, List.of(), "Threads that wait for a database connection."),
    JVM_MEMORY_BYTES(
            Kind.GAUGE, List.of("area", "state"), "Memory of the JVM, on and outside the heap."),
    JVM_GC_SECONDS(Kind.GAUGE, List.of(), "Time spent in garbage collection since startup."),
    JVM_THREADS(Kind.GAUGE, List.of(), "Platform threads."),
    PROCESS_CPU_SECONDS(Kind.GAUGE, List.of(), "CPU time used since startup."),
    PROCESS_OPEN_FILES(Kind.GAUGE, List.of(), "File handles in use; -1 if unknown."),
    PROCESS_MAX_FILES(Kind.GAUGE, List.of(), "Limit of file handles; -1 if unknown."),
    PROCESS_START_TIME_SECONDS(Kind.GAUGE, List.of(), "Unix time of the process's start."),
    BUILD_INFO(
            Kind.GAUGE,
            List.of("version", "java", "signatures"),
            "Always 1; its labels show version, Java and the code that signs and verifies.");

    /** The kind of metric, which decides its suffix and whether it may fall. */
    public enum Kind {
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

    /**
     * The name under which the metrics library registers the metric. The library adds the suffix.
     */
    public String registered() {
        return PREFIX + name().toLowerCase(Locale.ROOT);
    }

    /** The name that Prometheus shows. The samples of a timer have further suffixes. */
    public String shown() {
        return registered() + kind.suffix;
    }

    public Kind kind() {
        return kind;
    }

    public List<String> labels() {
        return labels;
    }

    public String help() {
        return help;
    }
}
