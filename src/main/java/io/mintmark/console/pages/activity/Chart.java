package io.mintmark.console.pages.activity;

import io.mintmark.console.pages.activity.Activity.Part;
import io.mintmark.console.pages.frame.CsvFile;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/**
 * Mints upwards, denials and failures downwards on a scale of their own, since they are few beside
 * the mints and matter more. Lengths are in pixels; across, in hundredths of the width, so that it
 * fits every window.
 *
 * @param address of the list that a bar leads to, up to its time range
 * @param room for bars, in pixels
 */
public record Chart(Activity activity, String address, int room) {
    private static final int TOP = 16;
    private static final int HIGH = 128;
    private static final int LOW = 70;
    private static final int FOOT = 22;

    /** The height for refusals and failures. */
    private static final int BELOW = 28;

    private static final int LEAST = 3;

    /** The height of a line of text, in pixels. */
    private static final int BETWEEN_LINES = 14;

    private static final double GAP = 0.18;
    private static final int LABELS = 5;
    private static final List<Long> STEPS =
            List.of(300L, 900L, 1_800L, 3_600L, 10_800L, 21_600L, 43_200L, 86_400L);

    private static final DateTimeFormatter CLOCK = format("HH:mm");
    private static final DateTimeFormatter DAY = format("d MMM");
    private static final DateTimeFormatter WHOLE = format("d MMM uuuu, HH:mm");

    private static DateTimeFormatter format(String pattern) {
        return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).withZone(ZoneOffset.UTC);
    }

    /** A part of a bar. */
    record Bar(int y, int height) {}

    /** The relation between the length of a bar of mints and their number. The page has both. */
    enum Scale {
        LINEAR,
        /**
         * A logarithmic scale, on which 1 has a length too, so that a few mints beside very many
         * are visible.
         */
        LOGARITHMIC;

        /** The style class of what is drawn on this scale. */
        String style() {
            return name().toLowerCase(Locale.ROOT);
        }

        private double share(long number, long top) {
            return this == LINEAR
                    ? (double) number / top
                    : Math.log1p((double) number) / Math.log1p((double) top);
        }
    }

    /** A horizontal line across the chart, with its label. */
    record Line(int y, String label) {}

    /** A time below the chart. */
    record Label(String x, String text, String anchor) {}

    /**
     * The chart of an activity.
     *
     * @param path of the list that a bar leads to, with or without a query
     */
    public static Chart of(Activity activity, String path) {
        return of(activity, path, HIGH);
    }

    /** A low chart, which leaves more room for the list below it. */
    public static Chart low(Activity activity, String path) {
        return of(activity, path, LOW);
    }

    private static Chart of(Activity activity, String path, int room) {
        return new Chart(activity, path + (path.contains("?") ? "&" : "?"), room);
    }

    /** The chart in a sentence, for people who can't see it. */
    String sentence() {
        return "%s mints, %s refusals and %s failures since %s UTC; most in one %s: %s."
                .formatted(
                        activity.mints(),
                        activity.refusals(),
                        activity.failures(),
                        WHOLE.format(activity.since()),
                        activity.each(),
                        most());
    }

    private Count most() {
        return activity.parts().stream()
                .map(part -> part.mints().and(part.refusals()))
                .max(Comparator.comparingLong(Count::number))
                .orElse(Count.NONE);
    }

    private long most(ToLongFunction<Part> what) {
        return activity.parts().stream().mapToLong(what).max().orElse(0);
    }

    /** The smallest round number, with a round half, that no bar exceeds. */
    private long top() {
        long most = Math.max(most(Part::minted), 4);
        long power = 1;
        while (true) {
            for (long of : new long[] {4, 8, 20}) {
                if (of * power >= most) {
                    return of * power;
                }
            }
            power *= 10;
        }
    }

    private static int length(long number, long most, int room) {
        return number == 0 ? 0 : Math.max(LEAST, (int) Math.round((double) number / most * room));
    }

    /** The length of a bar of refusals and failures, which have a scale of their own. */
    private int below(long number) {
        return length(number, Math.max(most(Part::wrong), 1), BELOW);
    }

    /** The chart's baseline. */
    int base() {
        return TOP + room;
    }

    int height() {
        return base() + (hasWrong() ? BELOW + 2 : 2) + FOOT;
    }

    List<Line> lines(Scale scale) {
        return lines(scale, scale == Scale.LINEAR ? List.of(top(), top() / 2) : powers());
    }

    private List<Line> lines(Scale scale, List<Long> numbers) {
        return numbers.stream()
                .map(number -> new Line(base() - length(number, scale), Frame.number(number)))
                .toList();
    }

    /** The numbers with a line: 1, and powers of ten that are far enough apart to be read. */
    private List<Long> powers() {
        long step = 10;
        while (length(step, Scale.LOGARITHMIC) - length(1, Scale.LOGARITHMIC) < BETWEEN_LINES) {
            step *= 10;
        }
        List<Long> powers = new ArrayList<>();
        for (long power = 1; power <= top(); power *= step) {
            powers.add(power);
        }
        return powers;
    }

    Bar minted(Part part, Scale scale) {
        int length = length(part.minted(), scale);
        return new Bar(base() - length, length);
    }

    private int length(long number, Scale scale) {
        return number == 0
                ? 0
                : Math.max(LEAST, (int) Math.round(scale.share(number, top()) * room));
    }

    Bar refused(Part part) {
        return new Bar(base() + 1, below(part.refusals().number()));
    }

    /** The bar of failures, which is below the refusals. */
    Bar failed(Part part) {
        int refused = below(part.refusals().number());
        return part.failures().number() == 0
                ? new Bar(base() + 1 + refused, 0)
                : new Bar(base() + 1 + refused, Math.max(LEAST, below(part.wrong()) - refused));
    }

    boolean hasWrong() {
        return most(Part::wrong) > 0;
    }

    /** The number of refusals and failures in the longest bar, as text. */
    String mostWrong() {
        return Frame.number(most(Part::wrong));
    }

    /** Whether a part is not over yet. */
    static boolean isRunning(Part part, Instant now) {
        return part.to().isAfter(now);
    }

    private double step() {
        return 100.0 / activity.parts().size();
    }

    String left(int part) {
        return percent(part * step() + step() * GAP / 2);
    }

    String slot(int part) {
        return percent(part * step());
    }

    String width() {
        return percent(step() * (1 - GAP));
    }

    String slotWidth() {
        return percent(step());
    }

    private static String percent(double part) {
        return String.format(Locale.ROOT, "%.2f%%", part);
    }

    /** The text of the tooltip. */
    String title(Part part) {
        return "%s UTC: %s, %s, %s"
                .formatted(
                        when(part),
                        part.mints().of("mint"),
                        part.refusals().of("refusal"),
                        part.failures().of("failure"));
    }

    CsvFile file() {
        return ChartFile.of(activity);
    }

    String when(Part part) {
        return WHOLE.format(part.from());
    }

    /** The URL of the list of a part's mints and refusals. */
    String link(Part part) {
        return "%sfrom=%s&to=%s".formatted(address, Links.time(part.from()), Links.time(part.to()));
    }

    /** Times below the chart, few enough for a phone. */
    List<Label> labels() {
        List<Part> parts = activity.parts();
        long span = Duration.between(activity.since(), activity.until()).toSeconds();
        long every =
                STEPS.stream().filter(step -> span / step <= LABELS + 1).findFirst().orElse(0L);
        boolean days = every == 0 || every >= 86_400;
        int each = Math.max(1, parts.size() / LABELS);
        return IntStream.range(0, parts.size())
                .filter(part ->
                        every == 0
                                ? (parts.size() - 1 - part) % each == 0
                                : parts.get(part).from().getEpochSecond() % every == 0)
                .mapToObj(part -> label(part, days))
                .toList();
    }

    private Label label(int part, boolean days) {
        Instant at = activity.parts().get(part).from();
        String anchor =
                (part + 0.5) * step() < 4 ? "start" : (part + 0.5) * step() > 96 ? "end" : "middle";
        String x =
                switch (anchor) {
                    case "start" -> "0%";
                    case "end" -> "100%";
                    default -> percent((part + 0.5) * step());
                };
        return new Label(x, days ? DAY.format(at) : CLOCK.format(at), anchor);
    }
}
