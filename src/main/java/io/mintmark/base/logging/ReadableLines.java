package io.mintmark.base.logging;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.logging.Formatter;
import java.util.logging.LogRecord;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * For developers: local time, level, message and context; stack traces below. A message stays on
 * one line.
 */
final class ReadableLines extends Formatter {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS");

    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}]");

    private final ZoneId zone;

    ReadableLines(ZoneId zone) {
        this.zone = zone;
    }

    @Override
    public String format(LogRecord record) {
        LogLine line = LogLine.of(record, formatMessage(record));
        return "%s %-7s %s [%s]%n%s"
                .formatted(
                        TIME.format(line.time().atZone(zone)),
                        LogLevels.word(line.level()).toUpperCase(Locale.ROOT),
                        UNPRINTABLE.matcher(line.message()).replaceAll("?"),
                        context(line),
                        line.exception().map(stack -> stack + "\n").orElse(""));
    }

    private static String context(LogLine line) {
        Optional<String> name =
                Optional.of(line.logger().substring(line.logger().lastIndexOf('.') + 1));
        return Stream.of(line.requestId(), line.tenant(), name)
                .flatMap(Optional::stream)
                .collect(Collectors.joining(" "));
    }
}
