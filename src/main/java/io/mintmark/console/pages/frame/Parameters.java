package io.mintmark.console.pages.frame;

import io.helidon.common.uri.UriQuery;
import io.helidon.http.HttpException;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/** The parameters of an address or form. Invalid ones are rejected with a message. */
public final class Parameters {
    private static final int LONGEST = 16_384;
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");
    private static final Pattern UUID_TEXT =
            Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    private final UriQuery query;

    /** The parameters of a request's URL. */
    public Parameters(ServerRequest request) {
        this(request.query());
    }

    private Parameters(UriQuery query) {
        this.query = query;
    }

    /**
     * The fields of a form that was posted ({@code application/x-www-form-urlencoded}), lines with
     * one character between them instead of the two that browsers send.
     */
    public static Parameters ofForm(ServerRequest request) {
        try {
            String form = request.content().as(String.class);
            return new Parameters(
                    UriQuery.create(form.replace("+", "%20").replace("%0D%0A", "%0A")));
        } catch (IllegalArgumentException e) {
            throw new Unusable("The form can't be read.");
        }
    }

    /** A page can't be shown. The message is for people. */
    public static final class Unusable extends HttpException {
        private static final long serialVersionUID = 1L;

        /**
         * @param sentence the reason, for people
         */
        public Unusable(String sentence) {
            super(sentence, Status.BAD_REQUEST_400, true);
        }
    }

    /**
     * A text, without the space around it; none if that is all there is, or no sign of equality.
     */
    public Optional<String> text(String name) {
        List<String> values = query.all(name, List::of);
        if (values.isEmpty()) {
            return Optional.empty();
        }
        if (values.size() > 1) {
            throw new Unusable("The parameter '%s' appears twice.".formatted(name));
        }
        String value = values.getFirst().strip();
        if (value.length() > LONGEST || value.indexOf('\0') >= 0) {
            throw new Unusable("The parameter '%s' has an invalid value.".formatted(name));
        }
        return value.isEmpty() ? Optional.empty() : Optional.of(value);
    }

    /**
     * An id.
     *
     * @throws Unusable if the text isn't one
     */
    public Optional<UUID> id(String name) {
        return text(name)
                .map(text ->
                        uuid(text)
                                .orElseThrow(
                                        () -> new Unusable("'%s' is not an id.".formatted(text))));
    }

    /**
     * A whole number of 64 bits that is not negative.
     *
     * @throws Unusable if the text is none
     */
    public Optional<Long> number(String name) {
        return text(name)
                .map(text -> {
                    if (!isNumber(text)) {
                        throw new Unusable("'%s' is not a number.".formatted(text));
                    }
                    return Long.valueOf(text);
                });
    }

    /** Whether a text is a whole number that is stored in 64 bits. */
    public static boolean isNumber(String text) {
        return NUMBER.matcher(text).matches();
    }

    /** An id of any form, however it is written. */
    public static Optional<UUID> uuid(String text) {
        if (!UUID_TEXT.matcher(text).matches()) {
            return Optional.empty();
        }
        return Optional.of(UUID.fromString(text));
    }
}
