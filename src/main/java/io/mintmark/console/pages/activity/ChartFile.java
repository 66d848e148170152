package io.mintmark.console.pages.activity;

import io.mintmark.console.pages.activity.Activity.Part;
import io.mintmark.console.pages.frame.CsvFile;

import java.util.List;
import java.util.Optional;

/**
 * The numbers of a chart as a CSV file, which is part of the page: so they are those of the chart.
 */
final class ChartFile {
    private ChartFile() {}

    /** The last column says whether all rows of a part were counted, or at least so many exist. */
    static CsvFile of(Activity activity) {
        return new CsvFile(
                "mints-and-refusals",
                "from,to,mints,refusals,failures,counted",
                activity.parts().stream().map(ChartFile::row),
                Optional.empty());
    }

    private static List<String> row(Part part) {
        boolean more = part.mints().and(part.refusals()).and(part.failures()).isMore();
        return List.of(
                part.from().toString(),
                part.to().toString(),
                Long.toString(part.mints().number()),
                Long.toString(part.refusals().number()),
                Long.toString(part.failures().number()),
                more ? "at least" : "all");
    }
}
