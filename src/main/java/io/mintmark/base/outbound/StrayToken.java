package io.mintmark.base.outbound;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;

import io.mintmark.base.json.JacksonFactories;

import java.io.IOException;
import java.util.Optional;

/**
 * A token in an answer that can't be read as a whole. It is never used, but it has been given, and
 * may work: so that its hash gets on record, the first text that is called a token is looked for.
 * Only tokens of JSON are passed over for that; no value but the texts is ever made of them.
 */
final class StrayToken {
    private static final JsonFactory JSON =
            JacksonFactories.factory()
                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                    .build();

    private StrayToken() {}

    static Optional<Secret> in(byte[] body) {
        try (JsonParser parser = JSON.createParser(body)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.VALUE_STRING && isToken(parser.currentName())) {
                    return Optional.of(parser.getText())
                            .filter(text -> !text.isEmpty())
                            .map(Secret::new);
                }
            }
        } catch (IOException e) {
            // what it says may quote the answer
        }
        return Optional.empty();
    }

    private static boolean isToken(String name) {
        return "access_token".equals(name) || "accessToken".equals(name) || "token".equals(name);
    }
}
