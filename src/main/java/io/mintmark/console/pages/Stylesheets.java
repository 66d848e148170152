package io.mintmark.console.pages;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.canonical.CanonicalForm;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The few files beside the pages, each at one address, read once from the program itself. */
final class Stylesheets {
    private static final String PICO =
            "/META-INF/resources/webjars/picocss__pico/2.1.1/css/pico.classless.min.css";

    /** Lets browsers keep the file, and check each time whether a newer release has another one. */
    private static final Header KEEP = HeaderValues.create(HeaderNames.CACHE_CONTROL, "no-cache");

    private static final String CSS = "text/css; charset=utf-8";

    private final List<File> files =
            List.of(
                    file("/style/pico.css", PICO, CSS),
                    file("/style/console.css", "/console/console.css", CSS),
                    file("/style/mark.svg", "/console/mark.svg", "image/svg+xml"));

    private record File(String address, Header type, String tag, String text) {}

    private static File file(String address, String resource, String type) {
        try (InputStream stream = Stylesheets.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IllegalStateException(resource + " is missing from the program");
            }
            byte[] bytes = stream.readAllBytes();
            return new File(
                    address,
                    HeaderValues.create(HeaderNames.CONTENT_TYPE, type),
                    "\"" + hash(bytes) + "\"",
                    new String(bytes, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String hash(byte[] bytes) {
        return HexFormat.of().formatHex(CanonicalForm.sha256().digest(bytes), 0, 16);
    }

    /** The handlers by URL. */
    Map<String, Handler> handlers() {
        return files.stream()
                .collect(
                        Collectors.toMap(
                                File::address,
                                file -> (request, response) -> answer(file, request, response)));
    }

    private static void answer(File file, ServerRequest request, ServerResponse response) {
        response.header(KEEP).header(HeaderValues.create(HeaderNames.ETAG, file.tag()));
        boolean known =
                request.headers()
                        .first(HeaderNames.IF_NONE_MATCH)
                        .filter(file.tag()::equals)
                        .isPresent();
        if (known) {
            response.status(Status.NOT_MODIFIED_304).send();
        } else {
            response.header(file.type()).send(file.text());
        }
    }
}
