package io.mintmark.console.pages.activity;

import io.mintmark.console.pages.activity.Activity.Part;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/** A chart of the height of a line of text, on a square-root scale. */
public record Spark(Activity activity) {
    static final int WIDTH = 96;
    static final int HEIGHT = 18;

    /** A bar; refusals and failures hang below the mints' line. */
    record Bar(String style, double x, double y, double width, double height) {}

    List<Bar> bars() {
        List<Part> parts = activity.parts();
        double most = most(parts, Part::minted) + most(parts, Part::wrong);
        double scale = most == 0 ? 0 : HEIGHT / most;
        double base = scale * most(parts, Part::minted);
        double step = WIDTH / (double) parts.size();
        List<Bar> bars = new ArrayList<>();
        for (int part = 0; part < parts.size(); part++) {
            double up = scale * root(parts.get(part).minted());
            double down = scale * root(parts.get(part).wrong());
            bars.add(new Bar("mint", part * step, base - up, step * 0.8, up));
            bars.add(new Bar("refusal", part * step, base, step * 0.8, down));
        }
        return bars.stream().filter(bar -> bar.height() > 0).toList();
    }

    static String number(double length) {
        return String.format(Locale.ROOT, "%.1f", length);
    }

    private static double most(List<Part> parts, ToLongFunction<Part> number) {
        return root(parts.stream().mapToLong(number).max().orElse(0));
    }

    private static double root(long number) {
        return Math.sqrt((double) number);
    }
}
