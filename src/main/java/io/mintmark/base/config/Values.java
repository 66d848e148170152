package io.mintmark.base.config;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/** The operators' values, parsed as their settings. */
final class Values {
    private final Map<String, RawSetting> givenByKey;

    Values(Map<String, RawSetting> givenByKey) {
        this.givenByKey = Map.copyOf(givenByKey);
    }

    /**
     * The setting's value, or its default.
     *
     * @throws InvalidSettings if it has neither, or the value is invalid
     */
    <T> T get(Setting<T> setting) {
        return find(setting).orElseThrow(() -> missing(setting));
    }

    /**
     * The setting's value, if there is one.
     *
     * @throws InvalidSettings if it doesn't fit
     */
    <T> Optional<T> find(Setting<T> setting) {
        return given(setting).map(given -> setting.format().read(given.name(), given.text()));
    }

    /** The given value, or else the default, unparsed. */
    <T> Optional<RawSetting> given(Setting<T> setting) {
        return written(setting)
                .or(() -> setting.fallback().map(text -> new RawSetting(setting.name(), text)));
    }

    /** The given value, unparsed; empty if the default applies. */
    <T> Optional<RawSetting> written(Setting<T> setting) {
        KnownSettings.require(setting);
        return Optional.ofNullable(givenByKey.get(setting.key()));
    }

    /**
     * Reads all these settings, and collects an error for each one that is invalid, or required and
     * missing.
     */
    void check(Collection<Setting<?>> settings, Complaints complaints) {
        for (Setting<?> setting : settings) {
            complaints.from(() -> {
                if (setting.required()) {
                    get(setting);
                } else {
                    find(setting);
                }
            });
        }
    }

    /**
     * @throws InvalidSettings that names all of these settings that aren't set
     */
    void require(Collection<Setting<?>> settings) {
        Complaints complaints = new Complaints();
        settings.forEach(setting -> complaints.from(() -> get(setting)));
        complaints.raise();
    }

    private static InvalidSettings missing(Setting<?> setting) {
        return new InvalidSettings(
                "%s is not set; it must be %s"
                        .formatted(setting.name(), setting.format().expected()));
    }
}
