package io.mintmark.admin.check;

import java.util.List;

/**
 * The findings in an area.
 *
 * @param faults a line for each; none if all is well
 * @param notes what somebody should look at, such as why something could not be checked
 * @param facts what is well and worth knowing, such as when a certificate expires
 */
public record AreaFindings(Area area, List<String> faults, List<String> notes, List<String> facts) {
    /** The areas of the check, in this order. */
    public enum Area {
        SETTINGS,
        KEYS,
        DATABASE,
        ROLES,
        SCHEMA,
        IDENTITY
    }

    public AreaFindings {
        faults = List.copyOf(faults);
        notes = List.copyOf(notes);
        facts = List.copyOf(facts);
    }

    AreaFindings(Area area, List<String> faults, List<String> notes) {
        this(area, faults, notes, List.of());
    }

    static AreaFindings of(Area area, List<String> faults) {
        return new AreaFindings(area, faults, List.of());
    }

    static AreaFindings unknown(Area area, String why) {
        return new AreaFindings(area, List.of(), List.of("not checked: " + why));
    }
}
