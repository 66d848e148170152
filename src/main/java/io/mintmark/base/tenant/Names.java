package io.mintmark.base.tenant;

import java.util.regex.Pattern;

/** The forms that names have; the database holds the same as constraints. */
final class Names {
    static final Pattern TENANT = Pattern.compile("[a-z][a-z0-9-]{0,39}");
    static final Pattern NAMED = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]{0,63}");

    private Names() {}

    static void require(String what, Pattern form, String value) {
        if (!form.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    "%s name '%s' doesn't match ^%s$".formatted(what, value, form.pattern()));
        }
    }
}
