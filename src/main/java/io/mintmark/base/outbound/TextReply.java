package io.mintmark.base.outbound;

import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpHeaders;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A response as text, of a service that was sent no secret.
 *
 * @param status of HTTP; never a redirect's
 * @param mediaType without parameters; empty if the service says none
 */
public record TextReply(int status, String mediaType, String body) {
    static TextReply of(String host, ClassicHttpResponse answer, int longest) throws IOException {
        String type =
                Optional.ofNullable(answer.getFirstHeader(HttpHeaders.CONTENT_TYPE))
                        .map(Header::getValue)
                        .orElse("");
        byte[] body = DocumentReader.body(host, answer, longest);
        return new TextReply(
                answer.getCode(),
                type.substring(0, (type + ";").indexOf(';')).strip(),
                new String(body, StandardCharsets.UTF_8));
    }
}
