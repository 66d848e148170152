package io.mintmark.benchmark;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What the first program does beside the second, line by line: above 1 it does more in a second, in
 * a second of CPU, or answers sooner.
 */
record Ratios(Map<String, Ratio> lines) {
    record Ratio(double perSecond, double perProcessorSecond, double median) {
        static Ratio of(Measured ours, Measured theirs) {
            return new Ratio(
                    ours.load().perSecond() / theirs.load().perSecond(),
                    ours.perProcessorSecond() / theirs.perProcessorSecond(),
                    theirs.load().within(500) / ours.load().within(500));
        }
    }

    /** Of lines of two programs, of which each line of the second follows that of the first. */
    static Ratios of(List<Measured> measured) {
        Map<String, Ratio> lines = new LinkedHashMap<>();
        Map<String, List<Measured>> byWhat =
                measured.stream()
                        .collect(
                                Collectors.groupingBy(
                                        Measured::what,
                                        LinkedHashMap::new,
                                        Collectors.toUnmodifiableList()));
        byWhat.forEach((what, both) -> {
            if (both.size() != 2) {
                throw new IllegalArgumentException("-Dload.reference must name one other program");
            }
            lines.put(what, Ratio.of(both.getFirst(), both.getLast()));
        });
        return new Ratios(lines);
    }

    /** Whether a line does less in a second, or in a second of CPU, than this share. */
    boolean anyBelow(double share) {
        return lines.values().stream()
                .anyMatch(line -> Math.min(line.perSecond(), line.perProcessorSecond()) < share);
    }

    @Override
    public String toString() {
        return lines.entrySet().stream()
                .map(line ->
                        "| %s | %.2f | %.2f | %.2f |%n"
                                .formatted(
                                        line.getKey(),
                                        line.getValue().perSecond(),
                                        line.getValue().perProcessorSecond(),
                                        line.getValue().median()))
                .collect(
                        Collectors.joining(
                                "",
                                "| ratios | a second | a CPU-second | p50, above 1 is sooner |%n|---|---|---|---|%n"
                                        .formatted(),
                                ""));
    }
}
