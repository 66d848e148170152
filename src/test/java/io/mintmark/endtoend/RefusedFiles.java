package io.mintmark.endtoend;

import java.util.List;

/** The samples of {@code mintmark_file_refused} in what the admin port shows. */
final class RefusedFiles {
    /** What Prometheus asks for. */
    static final String FORMAT = "text/plain;version=0.0.4";

    private RefusedFiles() {}

    /** Whether the sample of this setting has this value. */
    static boolean isShown(String metrics, String setting, double value) {
        List<String> found =
                metrics.lines()
                        .filter(line -> line.startsWith("mintmark_file_refused{"))
                        .filter(line -> line.contains("file=\"" + setting + "\""))
                        .toList();
        return found.size() == 1
                && Double.parseDouble(
                                found.getFirst().substring(found.getFirst().lastIndexOf(' ') + 1))
                        == value;
    }
}
