package io.mintmark.console.pages;

import io.mintmark.postgres.admin.GivenClaims;
import io.mintmark.postgres.admin.GivenClaims.UnusableClaims;

import java.util.Optional;

/** Claims that were typed or pasted into a form. */
final class ExplainForm {
    /** Longer addresses may be cut on their way. */
    private static final int LONGEST_ADDRESS = 8_000;

    private ExplainForm() {}

    /** The address of the answer to a form, if its claims can be read and are no secret. */
    static Optional<String> address(Parameters form) {
        return form.text("claims")
                .filter(ExplainForm::isReadable)
                .map(claims ->
                        "/explain?idp=%s&claims=%s"
                                .formatted(
                                        Links.encoded(form.text("idp").orElse("")),
                                        Links.encoded(claims)))
                .filter(address -> address.length() <= LONGEST_ADDRESS);
    }

    private static boolean isReadable(String claims) {
        try {
            return isObject(claims) && !GivenClaims.of(claims).claims().isEmpty();
        } catch (UnusableClaims e) {
            return false;
        }
    }

    /** Whether it begins as a JSON object, which no token does. */
    static boolean isObject(String text) {
        return text.startsWith("{");
    }
}
