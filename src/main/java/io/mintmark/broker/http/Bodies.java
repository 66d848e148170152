package io.mintmark.broker.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.HttpMediaType;
import io.helidon.webserver.http.ServerRequest;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Reads what clients send, as far as the interface allows them to. */
final class Bodies {
    /** The longest body that is read, in bytes. */
    static final int LONGEST = 64 * 1024;

    private Bodies() {}

    /**
     * The bytes of a JSON body, all of them: its length is known and the server has seen to its
     * limit, so that nothing is parsed before its end has arrived.
     *
     * @throws BadRequest if it says that it is something else
     */
    static byte[] json(ServerRequest request) {
        require(request, "json", "The body must be JSON; send 'Content-Type: application/json'.");
        return content(request);
    }

    /**
     * The bytes of a form, in the same way.
     *
     * @throws BadRequest if it says that it is something else
     */
    static byte[] form(ServerRequest request) {
        require(
                request,
                "x-www-form-urlencoded",
                "The body must be a form; send 'Content-Type: application/x-www-form-urlencoded'.");
        return content(request);
    }

    /** The bytes of a body of any type. */
    static byte[] content(ServerRequest request) {
        if (!request.content().hasEntity()) {
            return new byte[0];
        }
        int length = (int) Math.min(request.headers().contentLength().orElse(LONGEST), LONGEST);
        try (InputStream in = request.content().inputStream()) {
            // an array that fits, and the end
            return in.readNBytes(length + 1);
        } catch (IOException e) {
            throw new UncheckedIOException("the body could not be read", e);
        }
    }

    private static void require(ServerRequest request, String subtype, String otherwise) {
        boolean fits =
                request.headers()
                        .first(HeaderNames.CONTENT_TYPE)
                        .filter(given -> isApplication(subtype, given))
                        .isPresent();
        if (!fits) {
            throw new BadRequest(ErrorBody.invalidRequest(415, otherwise));
        }
    }

    private static boolean isApplication(String subtype, String contentType) {
        try {
            HttpMediaType type = HttpMediaType.create(contentType);
            return type.type().equalsIgnoreCase("application")
                    && type.subtype().equalsIgnoreCase(subtype)
                    && type.charset().map(name -> name.equalsIgnoreCase("utf-8")).orElse(true);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
