package io.mintmark.console.pages.explain;

import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.auditor.explain.GivenClaims.UnusableClaims;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.View;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/** Claims that were typed or pasted into a form. */
public final class ExplainForm {
    /** Longer addresses may be cut on their way. */
    private static final int LONGEST_ADDRESS = 8_000;

    private ExplainForm() {}

    /**
     * Redirects valid input to an address that can be shared. Invalid input may be a token and gets
     * none.
     */
    public static View view(Connection connection, Parameters form, Instant now)
            throws SQLException {
        Optional<String> address = address(form);
        return address.isPresent()
                ? View.elsewhere(address.get())
                : ExplainPage.view(connection, form, now);
    }

    /** The address of the answer to a form, if its claims can be read and are no secret. */
    private static Optional<String> address(Parameters form) {
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
