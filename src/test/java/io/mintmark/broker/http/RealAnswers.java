package io.mintmark.broker.http;

import io.mintmark.broker.http.InterfaceDocument.Place;
import io.mintmark.endtoend.World;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Asks a broker whatever it is told to, and keeps the answers. */
final class RealAnswers {
    private final InterfaceDocument document;
    private final Queue<Exchanged> all = new ConcurrentLinkedQueue<>();

    RealAnswers(InterfaceDocument document) {
        this.document = document;
    }

    List<Exchanged> all() {
        return List.copyOf(all);
    }

    /** Sends a request that can be read. */
    Exchanged ask(World world, String line, String body, String... headers) {
        StringBuilder text = new StringBuilder(line).append(" HTTP/1.1\r\nHost: localhost\r\n");
        for (String header : headers) {
            text.append(header).append("\r\n");
        }
        if (!body.isEmpty()) {
            text.append("Content-Length: ").append(body.length()).append("\r\n");
        }
        return send(world, document.place(line), line, text + "\r\n" + body);
    }

    /** Sends anything. */
    Exchanged send(World world, Place place, String name, String text) {
        try (RawClient client = new RawClient(world.broker().url().getPort())) {
            client.trySending(text);
            RawAnswer answer = name.startsWith("HEAD ") ? client.head() : client.answer();
            Exchanged exchanged = new Exchanged(place, name, answer);
            all.add(exchanged);
            return exchanged;
        } catch (IOException e) {
            throw new UncheckedIOException(name + " got no answer", e);
        }
    }

    /** Asks for keys with a token. */
    Exchanged mint(World world, String token, String... keys) {
        return ask(
                world,
                "POST /credentials/mint",
                "{\"keys\":[\"" + String.join("\",\"", keys) + "\"]}",
                "Content-Type: application/json",
                "Authorization: Bearer " + token);
    }
}
