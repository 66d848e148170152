package io.mintmark.base.logging;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * What a log line says, in whichever form.
 *
 * @param message with its parameters filled in
 * @param requestId of the request that this thread works on
 * @param tenant of that request, once it is known
 * @param fields what else is known of the request, by name
 * @param exception class, message and stack of what was thrown, and of its causes, at most 4 KiB
 */
record LogLine(
        Instant time,
        Level level,
        String logger,
        String message,
        Optional<String> requestId,
        Optional<String> tenant,
        Map<String, String> fields,
        Optional<String> exception) {
    /**
     * The maximum length of a message, in characters. A library's message may quote what the
     * library was sent.
     */
    static final int LONGEST_MESSAGE = 16 * 1024;

    /** Further fields of a line's context, in this order. */
    private static final List<String> FIELDS =
            List.of(
                    "trace_id",
                    "viewer",
                    "subject",
                    "roleSessionName",
                    "oauthClientId",
                    "address",
                    "method",
                    "route",
                    "status",
                    "bytes",
                    "milliseconds",
                    "error",
                    "reason",
                    "key",
                    "mintId");

    /**
     * Reads a record on the thread that logged it.
     *
     * @param message the record's, formatted
     */
    static LogLine of(LogRecord record, @Nullable String message) {
        return new LogLine(
                record.getInstant(),
                record.getLevel(),
                Optional.ofNullable(record.getLoggerName()).orElse(""),
                Redaction.of(cut(Objects.requireNonNullElse(message, ""))),
                Optional.ofNullable(MDC.get("requestId")),
                Optional.ofNullable(MDC.get("tenant")),
                context(),
                Optional.ofNullable(record.getThrown()).map(LogLine::stack));
    }

    private static Map<String, String> context() {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String name : FIELDS) {
            String value = MDC.get(name);
            if (value != null) {
                fields.put(name, Redaction.of(value));
            }
        }
        return fields;
    }

    private static String stack(Throwable thrown) {
        return Redaction.of(StackText.of(thrown));
    }

    private static String cut(String message) {
        return message.length() <= LONGEST_MESSAGE
                ? message
                : message.substring(0, LONGEST_MESSAGE) + "…";
    }

    /**
     * What was thrown and its causes, as text of at most 4 KiB. Each of them has an equal share,
     * since the first cause is the one to read and stands last.
     */
    private static final class StackText {
        /** The maximum length of a stack trace, in characters. */
        static final int LONGEST = 4096;

        private static final int MOST_CAUSES = 8;
        private static final String CAUSED_BY = "Caused by: ";

        private StackText() {}

        static String of(Throwable thrown) {
            List<Throwable> chain = chain(thrown);
            int share = LONGEST / chain.size();
            StringBuilder text = new StringBuilder();
            for (Throwable one : chain) {
                text.append(of(one, text.isEmpty() ? "" : CAUSED_BY, share));
            }
            return text.toString().strip();
        }

        private static List<Throwable> chain(Throwable thrown) {
            List<Throwable> chain = new ArrayList<>();
            for (Throwable one = thrown;
                    one != null && chain.size() < MOST_CAUSES;
                    one = one.getCause()) {
                chain.add(one);
            }
            return chain;
        }

        /** The throwable's message and as many lines of its stack trace as fit into the share. */
        private static String of(Throwable thrown, String start, int share) {
            StackTraceElement[] stack = thrown.getStackTrace();
            String more = "\t... %d more\n".formatted(stack.length);
            String head = start + thrown;
            int end = Math.min(head.length(), share - more.length() - 1);
            StringBuilder text = new StringBuilder(head.substring(0, end)).append('\n');
            for (int i = 0; i < stack.length; i++) {
                String line = "\tat " + stack[i] + "\n";
                if (text.length() + line.length() + more.length() > share) {
                    return text.append("\t... %d more\n".formatted(stack.length - i)).toString();
                }
                text.append(line);
            }
            return text.toString();
        }
    }
}
