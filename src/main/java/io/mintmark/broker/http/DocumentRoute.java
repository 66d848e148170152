package io.mintmark.broker.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/** Serves the OpenAPI document of the interface: the file of the documentation, as it is. */
final class DocumentRoute implements Handler {
    static final String RESOURCE = "/openapi.yaml";

    /** RFC 9512. */
    private static final Header YAML =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "application/yaml");

    private static final Header KEPT =
            HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "public, max-age=300");

    private final Answers answers;
    private final Content document = new Content(YAML, read());

    DocumentRoute(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        response.header(KEPT);
        answers.sendShared(request, response, document);
    }

    private static byte[] read() {
        try (InputStream in = DocumentRoute.class.getResourceAsStream(RESOURCE)) {
            return Objects.requireNonNull(in, RESOURCE).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
