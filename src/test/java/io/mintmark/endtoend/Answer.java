package io.mintmark.endtoend;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

/** What the broker answered. */
public record Answer(HttpResponse<String> response) {
    private static final ObjectMapper JSON = new ObjectMapper();

    public int status() {
        return response.statusCode();
    }

    /** The whole body. */
    public JsonNode body() {
        try {
            return JSON.readTree(response.body());
        } catch (JsonProcessingException e) {
            throw new AssertionError("no JSON: " + response.body(), e);
        }
    }

    /** The value at a JSON pointer, as text. */
    public String at(String pointer) {
        return body().at(pointer).asText();
    }

    /** The texts of the array at a JSON pointer. */
    public List<String> texts(String pointer) {
        List<String> texts = new ArrayList<>();
        body().at(pointer).forEach(element -> texts.add(element.asText()));
        return texts;
    }

    public String header(String name) {
        return response.headers().firstValue(name).orElse("");
    }

    /** {@code error} and {@code details.reason}. */
    public String verdict() {
        return status() + " " + at("/error") + " " + at("/details/reason");
    }

    @Override
    public String toString() {
        return status() + " " + response.body();
    }
}
