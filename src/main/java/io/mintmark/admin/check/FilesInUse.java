package io.mintmark.admin.check;

import io.mintmark.base.config.AdminSettings;
import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files that the broker on this machine refuses to take over, by its metric. Its user may be
 * unable to read a file that the user of this command can read.
 */
final class FilesInUse {
    private static final String METRICS = "/observe/metrics";
    private static final Pattern REFUSED =
            Pattern.compile("^mintmark_file_refused\\{.*file=\"([^\"]+)\".*\\} 1(?:\\.0)?$");

    private FilesInUse() {}

    /** A line for each file whose contents a running broker rejects; none if no broker answers. */
    static List<String> refused(AdminSettings settings) {
        if (settings.port() == 0) {
            return List.of();
        }
        try (AdminPort port = new AdminPort(settings)) {
            return port.get(METRICS)
                    .body()
                    .lines()
                    .map(REFUSED::matcher)
                    .filter(Matcher::matches)
                    .map(line -> line(port, line.group(1)))
                    .toList();
        } catch (CommandFailed | IOException e) {
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    private static String line(AdminPort port, String setting) {
        return "the running broker (%s) can't use the new contents of %s, so it keeps using the former contents; the broker's log has the reason"
                .formatted(port, setting);
    }
}
