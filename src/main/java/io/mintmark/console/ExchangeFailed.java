package io.mintmark.console;

import io.helidon.http.Header;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.http.RequestIds;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/**
 * The body of what the library answers when it couldn't exchange a code: a page in place of its
 * line of text. Its status and its cookies stay, and so does a redirect, which has no body.
 */
final class ExchangeFailed implements UnaryOperator<OutputStream> {
    private static final Logger log = LoggerFactory.getLogger(ExchangeFailed.class);
    private static final int FIRST_OF_ERRORS = 400;

    private final ServerRequest request;
    private final ServerResponse response;

    ExchangeFailed(ServerRequest request, ServerResponse response) {
        this.request = request;
        this.response = response;
    }

    /** Called when the body is about to be written, and the headers aren't yet. */
    @Override
    public OutputStream apply(OutputStream body) {
        int status = response.status().code();
        if (status < FIRST_OF_ERRORS) {
            return body;
        }
        log.warn("A login failed: the identity provider's answer to its code was of no use");
        Notice page =
                Notice.of(
                                status,
                                "Not logged in",
                                "The identity provider didn't take the login's code, or what it"
                                        + " answered was of no use.",
                                "Log in again. If that happens each time, the console's client id,"
                                        + " its secret or its redirect address may differ from what"
                                        + " the identity provider knows.")
                        .withLink("Log in", "/");
        for (Header header : page.headers()) {
            response.header(header);
        }
        return new Instead(
                body, page.html(RequestIds.of(request)).getBytes(StandardCharsets.UTF_8));
    }

    /** Writes one body, whatever is written to it. */
    private static final class Instead extends FilterOutputStream {
        private final byte[] page;
        private boolean closed;

        Instead(OutputStream body, byte[] page) {
            super(body);
            this.page = page;
        }

        @Override
        public void write(int ignored) {}

        @Override
        public void write(byte[] ignored, int from, int length) {}

        @Override
        public void flush() {}

        @Override
        public void close() throws IOException {
            if (!closed) {
                closed = true;
                out.write(page);
                out.close();
            }
        }
    }
}
