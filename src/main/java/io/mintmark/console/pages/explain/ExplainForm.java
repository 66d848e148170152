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
    /** The maximum length of a URL. Longer ones may be truncated by browsers or proxies. */
    private static final int LONGEST_ADDRESS = 8_000;

    private static final String CLAIMS = "claims";
    private static final String IDP = "idp";

    private ExplainForm() {}

    /**
     * Redirects valid input to an address that can be shared. A token's claims get none, and what
     * can't be read may be a token.
     */
    public static View view(Connection connection, Parameters form, Instant now)
            throws SQLException {
        Optional<String> typed = form.text(CLAIMS);
        try {
            Optional<String> claims = TypedClaims.of(form.text("subject"), typed);
            if (typed.filter(TypedClaims::isToken).isPresent() && claims.isPresent()) {
                return ExplainPage.ofToken(connection, form.text(IDP), claims.get());
            }
            Optional<String> address = claims.flatMap(given -> address(form, given));
            if (address.isPresent()) {
                return View.elsewhere(address.get());
            }
        } catch (UnusableClaims | Parameters.Unusable e) {
            // the page says why
        }
        return ExplainPage.view(connection, form, now);
    }

    /** The address of the answer to a form, if its claims can be read and are no secret. */
    private static Optional<String> address(Parameters form, String claims) {
        return Optional.of(claims)
                .filter(ExplainForm::isReadable)
                .map(given ->
                        "/explain?idp=%s&claims=%s"
                                .formatted(
                                        Links.encoded(form.text(IDP).orElse("")),
                                        Links.encoded(given)))
                .filter(address -> address.length() <= LONGEST_ADDRESS);
    }

    private static boolean isReadable(String claims) {
        try {
            return isObject(claims) && !GivenClaims.of(claims).claims().isEmpty();
        } catch (UnusableClaims e) {
            return false;
        }
    }

    /** Whether the text begins like a JSON object, which no token does. */
    static boolean isObject(String text) {
        return text.startsWith("{");
    }
}
