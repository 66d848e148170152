package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Moment;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Mints or refusals that follow each other and differ in nothing but their time, such as those of a
 * job that tries again and again. A list shows the latest, and how many they are.
 *
 * @param first when the first of them began
 * @param more whether there may be more that weren't read
 */
public record Repeat(MintLine latest, Instant first, int times, boolean more) {
    /** The number of lines that a page reads to fold their repeats. */
    public static final int READ = 100;

    private static final Duration MINUTE = Duration.ofMinutes(1);

    /**
     * The repeats among lines, the newest first.
     *
     * @param read how many lines were asked for
     * @param most how many repeats are wanted
     */
    public static List<Repeat> of(List<MintLine> lines, int read, int most) {
        List<Repeat> repeats = new ArrayList<>();
        for (MintLine line : lines) {
            if (!repeats.isEmpty() && repeats.getLast().isLike(line)) {
                Repeat last = repeats.removeLast();
                repeats.add(new Repeat(last.latest, line.at(), last.times + 1, false));
            } else if (repeats.size() == most) {
                return repeats;
            } else {
                repeats.add(new Repeat(line, line.at(), 1, false));
            }
        }
        if (lines.size() >= read && !repeats.isEmpty()) {
            Repeat last = repeats.removeLast();
            repeats.add(new Repeat(last.latest, last.first, last.times, true));
        }
        return repeats;
    }

    private boolean isLike(MintLine line) {
        return latest.subject().isPresent()
                && latest.subject().equals(line.subject())
                && latest.actor().equals(line.actor())
                && latest.tenant().equals(line.tenant())
                && latest.key().equals(line.key())
                && latest.outcome() == line.outcome()
                && latest.reason().equals(line.reason());
    }

    /** The repeats in words, such as "× 12, the first 4 minutes ago"; empty for one alone. */
    Optional<String> words(Frame frame) {
        Moment start = frame.at(first);
        return times == 1
                ? Optional.empty()
                : Optional.of(
                        "× %s%s, the first %s"
                                .formatted(
                                        Frame.number(times),
                                        more ? " or more" : "",
                                        start.distance()));
    }

    /** The URL of a search for all of the repeats. */
    String address() {
        return "/mints?tenant=%s&key=%s&subject=%s&from=%s&to=%s"
                .formatted(
                        Links.encoded(latest.tenant().orElse("")),
                        Links.encoded(latest.key().orElse("")),
                        Links.encoded(latest.subject().orElse("")),
                        Links.time(first),
                        Links.time(latest.at().plus(MINUTE)));
    }
}
