package io.mintmark.admin.check;

import io.mintmark.admin.check.AreaFindings.Area;
import io.mintmark.base.config.InvalidSettings;
import io.mintmark.base.config.LogSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.logging.Logging;

import picocli.CommandLine.Command;

import java.io.PrintStream;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

@Command(
        name = "check",
        description = {
            "Checks everything that startup needs, and lists all errors at once.",
            "Checks settings, keys, database, roles, schema and the broker's identity.",
            "Changes and starts nothing."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:startup would succeed",
            "1:startup would fail",
            "2:settings are wrong; there may be other errors"
        },
        mixinStandardHelpOptions = true)
public final class CheckCommand implements Callable<Integer> {
    private final Supplier<SettingsReader> settings;
    private final PrintStream out;

    public CheckCommand(Supplier<SettingsReader> settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
    }

    @Override
    public Integer call() {
        SettingsReader reader = settings.get();
        Logging.install(log(reader));
        List<AreaFindings> findings = new Checkup(reader, InstantSource.system()).run();
        findings.forEach(this::print);
        return findings.stream().filter(it -> !it.faults().isEmpty()).findFirst().stream()
                .mapToInt(first -> first.area() == Area.SETTINGS ? 2 : 1)
                .findFirst()
                .orElse(0);
    }

    /** Invalid log settings are reported with the other settings. */
    private static LogSettings log(SettingsReader reader) {
        try {
            return reader.log();
        } catch (InvalidSettings e) {
            return LogSettings.DEFAULT;
        }
    }

    private void print(AreaFindings finding) {
        String area = finding.area().name().toLowerCase(Locale.ROOT);
        finding.faults().forEach(fault -> out.println("WRONG " + area + ": " + fault));
        finding.notes().forEach(note -> out.println("note  " + area + ": " + note));
        if (finding.faults().isEmpty() && finding.notes().isEmpty()) {
            out.println("ok    " + area);
        }
        finding.facts().forEach(fact -> out.println("info  " + area + ": " + fact));
    }
}
