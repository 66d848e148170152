package io.mintmark.broker.http;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Requests with another one in their bodies, where a server that reads a body's length differently
 * from the proxy in front of it would find it.
 */
final class HiddenRequests {
    private static final List<String> LINES =
            List.of(
                    "GET /ok",
                    "HEAD /ok",
                    "POST /json",
                    "POST /leave",
                    "POST /read",
                    "PUT /none",
                    "OPTIONS /json");

    private static final List<String> SIZES =
            List.of(
                    "%x",
                    "%x;a=b",
                    "%x;a",
                    "%x;",
                    "%x ;a=b",
                    "%x;a=\"b\"",
                    "%x;a=b;c=d",
                    "%x ",
                    "%x\t",
                    "0%x",
                    "00000000000%x",
                    "%X;A=B",
                    "%x;a=\"\r\"",
                    "+%x",
                    "0x%x",
                    "%x,0",
                    "%x;0",
                    "%x\r;a");

    /** What stands before the hidden request in a chunk, and looks like the end of all chunks. */
    private static final List<String> ENDS =
            List.of("", "0\r\n\r\n", "\r\n0\r\n\r\n", "x\r\n0\r\n\r\n", "0\r\nX: y\r\n\r\n");

    private static final int TOO_LONG = 70_000;

    private final String hidden;
    private final List<String> all = new ArrayList<>();

    private HiddenRequests(String hidden) {
        this.hidden = hidden;
    }

    /** All of them with this one inside, in an order of the seed. */
    static List<String> all(String hidden, long seed) {
        HiddenRequests requests = new HiddenRequests(hidden);
        LINES.forEach(requests::inBodies);
        LINES.forEach(requests::inChunks);
        LINES.forEach(requests::betweenTwoLengths);
        Collections.shuffle(requests.all, new Random(seed));
        return List.copyOf(requests.all);
    }

    private void inBodies(String line) {
        String many = hidden.repeat(TOO_LONG / hidden.length() + 1);
        for (String body : List.of(hidden, hidden + hidden, "\r\n" + hidden, many)) {
            String length = "Content-Length: " + body.length() + "\r\n";
            add(line, length, body);
            add(line, length + "Expect: 100-continue\r\n", body);
            add(line, length + "Connection: close\r\n", body);
            add(line, "Connection: Content-Length\r\n" + length, body);
            add(line, "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n" + length, body);
        }
    }

    private void inChunks(String line) {
        for (String end : ENDS) {
            String data = end + hidden;
            for (String size : SIZES) {
                String chunks = size.formatted(data.length()) + "\r\n" + data + "\r\n0\r\n\r\n";
                add(line, "Transfer-Encoding: chunked\r\n", chunks);
                add(line, "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n", chunks);
            }
            String loose = Integer.toHexString(data.length()) + "\n" + data + "\n0\n\n";
            add(line, "Transfer-Encoding: chunked\r\n", loose);
        }
    }

    private void betweenTwoLengths(String line) {
        String body = "0\r\n\r\n" + hidden;
        String length = "Content-Length: " + body.length() + "\r\n";
        for (String name : MalformedRequests.NAMES_OF_ENCODING) {
            for (String value : MalformedRequests.ENCODINGS) {
                add(line, name + ": " + value + "\r\n" + length, body);
                add(line, length + name + ": " + value + "\r\n", body);
            }
        }
        for (String other : List.of("0", "5", "+5", "05", "5, 5", "")) {
            add(line, "Content-Length: " + other + "\r\n" + length, body);
            add(line, length + "content-length:" + other + "\r\n", body);
            add(line, length + "Content-Length : " + other + "\r\n", body);
        }
    }

    private void add(String line, String framing, String body) {
        all.add(
                line
                        + " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                        + framing
                        + "\r\n"
                        + body);
    }
}
