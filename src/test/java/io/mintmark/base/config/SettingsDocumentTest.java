package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

class SettingsDocumentTest {
    @Test
    void the_documented_settings_are_the_ones_in_the_code() throws IOException {
        String documented =
                Files.readAllLines(Path.of("docs/settings.md")).stream()
                        .filter(line -> line.startsWith("| `"))
                        .collect(Collectors.joining("\n"));
        String known =
                KnownSettings.TABLE.stream()
                        .map(SettingsDocumentTest::row)
                        .collect(Collectors.joining("\n"));

        assertEquals(known, documented);
    }

    @Test
    void no_two_settings_share_a_variable() {
        List<String> names = KnownSettings.TABLE.stream().map(Setting::name).toList();

        assertEquals(names.stream().distinct().toList(), names);
    }

    private static String row(Setting<?> setting) {
        String fallback = setting.fallback().map(text -> "`" + text + "`").orElse("–");
        return "| `%s` | `%s` | %s | %s |"
                .formatted(setting.name(), setting.key(), fallback, setting.meaning());
    }
}
