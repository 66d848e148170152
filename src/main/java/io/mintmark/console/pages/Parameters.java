package io.mintmark.console.pages;

import io.helidon.common.uri.UriQuery;
import io.helidon.http.HttpException;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/** What an address asks for beyond its path. What can't be meant is refused with a sentence. */
final class Parameters {
    private static final int LONGEST = 16_384;
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
    private static final Pattern UUID_TEXT =
            Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    private final UriQuery query;

    Parameters(ServerRequest request) {
        this(request.query());
    }

    private Parameters(UriQuery query) {
        this.query = query;
    }

    /**
     * The fields of a form that was posted ({@code application/x-www-form-urlencoded}), lines with
     * one character between them instead of the two that browsers send.
     */
    static Parameters ofForm(ServerRequest request) {
        try {
            String form = request.content().as(String.class);
            return new Parameters(
                    UriQuery.create(form.replace("+", "%20").replace("%0D%0A", "%0A")));
        } catch (IllegalArgumentException e) {
            throw new Unusable("The form can't be read.");
        }
    }

    /** Why a page can't be shown, for people. */
    static final class Unusable extends HttpException {
        private static final long serialVersionUID = 1L;

        Unusable(String sentence) {
            super(sentence, Status.BAD_REQUEST_400, true);
        }
    }

    /**
     * A text, without the space around it; none if that is all there is, or no sign of equality.
     */
    Optional<String> text(String name) {
        List<String> values = query.all(name, List::of);
        if (values.isEmpty()) {
            return Optional.empty();
        }
        if (values.size() > 1) {
            throw new Unusable("The URL has %s twice.".formatted(name));
        }
        String value = values.getFirst().strip();
        if (value.length() > LONGEST || value.indexOf('\0') >= 0) {
            throw new Unusable("The URL has an invalid value for %s.".formatted(name));
        }
        return value.isEmpty() ? Optional.empty() : Optional.of(value);
    }

    Optional<UUID> id(String name) {
        return text(name)
                .map(text ->
                        uuid(text)
                                .orElseThrow(() ->
                                        new Unusable("'%s' is not a mint id.".formatted(text))));
    }

    Optional<Long> number(String name) {
        return text(name)
                .map(text -> {
                    if (!isNumber(text)) {
                        throw new Unusable("'%s' is not a number.".formatted(text));
                    }
                    return Long.valueOf(text);
                });
    }

    /**
     * A day or a moment as it was typed, be it wrong; of a day its first moment, or its last one.
     *
     * @param end whether the end of a day is meant
     */
    TypedTime typedTime(String name, boolean end) {
        return TypedTime.of(text(name).orElse(""), end);
    }

    /** Whether a text is a whole number that is stored in 64 bits. */
    static boolean isNumber(String text) {
        return NUMBER.matcher(text).matches();
    }

    /** An id of any form, however it is written. */
    static Optional<UUID> uuid(String text) {
        if (!UUID_TEXT.matcher(text).matches()) {
            return Optional.empty();
        }
        return Optional.of(UUID.fromString(text));
    }
}
