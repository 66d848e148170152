package io.mintmark.base.config;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All settings, in the order of {@code docs/settings.md}, which a test compares. */
final class KnownSettings {
    static final List<Setting<?>> TABLE =
            Stream.of(
                            ServerSettings.TABLE,
                            ServerBounds.TABLE,
                            AdminSettings.TABLE,
                            DatabaseSettings.TABLE,
                            DatabaseRoles.TABLE,
                            BrokerSettings.TABLE,
                            AuditSettings.TABLE,
                            Pkcs11Settings.TABLE,
                            List.of(SingleSettings.SECRETS_DIR),
                            RateLimitSettings.TABLE,
                            List.of(
                                    SingleSettings.CORS_ALLOWED_ORIGINS,
                                    SingleSettings.PROVIDER_TIMEOUT,
                                    SingleSettings.CATALOG_MAX_STALENESS,
                                    SingleSettings.OUTBOUND_ALLOWED_HOSTS),
                            ConsoleSettings.TABLE,
                            List.of(SingleSettings.NATIVE_SIGNATURES),
                            LogSettings.TABLE)
                    .<Setting<?>>flatMap(List::stream)
                    .toList();

    private static final Map<String, Setting<?>> BY_KEY =
            TABLE.stream().collect(Collectors.toMap(Setting::key, Function.identity()));

    private KnownSettings() {}

    static boolean hasKey(String key) {
        return BY_KEY.containsKey(key);
    }

    /** Whether some known key lies below this one. */
    static boolean hasSection(String key) {
        return BY_KEY.keySet().stream().anyMatch(known -> known.startsWith(key + "."));
    }

    /** The known key that looks most like a mistyped one, or like the name of its variable. */
    static String nearestTo(String typed) {
        return nearest(typed).key();
    }

    /** The variable of the setting that looks most like a mistyped one. */
    static String nearestVariable(String typed) {
        return nearest(typed).name();
    }

    private static Setting<?> nearest(String typed) {
        String key = typed.replaceAll("[^A-Za-z0-9]+", "-").toLowerCase(Locale.ROOT);
        return TABLE.stream()
                .min(
                        Comparator.comparingInt(
                                it -> Spelling.distance(it.key().replace('.', '-'), key)))
                .orElseThrow();
    }

    /** All settings but those that the chosen identity type ignores. */
    static List<Setting<?>> usedWith(Values values) {
        List<Setting<?>> idle = IdentityTable.idleWith(values);
        return TABLE.stream().filter(setting -> !idle.contains(setting)).toList();
    }

    /** Fails if a setting that is read is in no table. */
    static void require(Setting<?> setting) {
        if (!hasKey(setting.key())) {
            throw new IllegalStateException(
                    setting.key() + " is missing from the table of settings");
        }
    }

    /** Measures the distance between two spellings. */
    private static final class Spelling {
        private Spelling() {}

        /** The least number of letters to add, remove or change (Levenshtein). */
        static int distance(String one, String other) {
            int[] above = new int[other.length() + 1];
            for (int column = 0; column < above.length; column++) {
                above[column] = column;
            }
            for (int row = 1; row <= one.length(); row++) {
                above = next(above, row, one.charAt(row - 1), other);
            }
            return above[other.length()];
        }

        private static int[] next(int[] above, int row, char letter, String other) {
            int[] line = new int[above.length];
            line[0] = row;
            for (int column = 1; column < line.length; column++) {
                int changed = above[column - 1] + (other.charAt(column - 1) == letter ? 0 : 1);
                line[column] = Math.min(changed, 1 + Math.min(above[column], line[column - 1]));
            }
            return line;
        }
    }
}
