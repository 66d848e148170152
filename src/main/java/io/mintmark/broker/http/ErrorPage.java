package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The page for people that explains errors, with one anchor for each cause.
 *
 * @param address without a fragment; empty if errors link nowhere
 */
record ErrorPage(Optional<URI> address) {
    /** A cause that is a word; others are sentences about a field. */
    private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9_]*");

    /** Links to no page. */
    static final ErrorPage NONE = new ErrorPage(Optional.empty());

    /** The anchor of an error: {@code details.reason} if that is a word, otherwise the code. */
    static String anchor(String code, ObjectNode details) {
        String reason = details.path("reason").asText();
        return WORD.matcher(reason).matches() ? reason : code.toLowerCase(Locale.ROOT);
    }

    /** Adds the link to an anchor of the page, if there is a page. */
    ObjectNode link(ObjectNode body, String member, String anchor) {
        address.ifPresent(page -> body.put(member, page + "#" + anchor));
        return body;
    }
}
