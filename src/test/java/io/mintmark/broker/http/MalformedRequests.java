package io.mintmark.broker.http;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Requests after which nothing may be taken for a request: every kind of damage at every position
 * of some good ones. A request that follows would be a smuggled one.
 */
final class MalformedRequests {
    private static final String JSON_BODY = "{\"keys\":[\"deploy\"]}";

    /** Nowhere in a head, whatever stands around it (RFC 9112 sections 2.2 and 5.2). */
    private static final List<String> NOWHERE = List.of("\r", "\n", "\0", "\r\n ", "\r\n\t");

    /** Neither in a request's line nor in a header's name. */
    private static final List<String> NOT_IN_NAMES =
            List.of(" ", "\t", "\u000b", "\f", "\u0085", "\u007f");

    private static final List<String> LENGTHS =
            List.of(
                    "+%d",
                    "-%d",
                    "%d,%1$d",
                    "%d, %1$d",
                    "%d,",
                    ",%d",
                    "0x%x",
                    "%d.0",
                    "%de0",
                    "%d %1$d",
                    "%d\t%1$d",
                    "%d;",
                    "\"%d\"",
                    "%d_0",
                    "\u00b2%d",
                    "%d\u000b",
                    "",
                    "18446744073709551616%d",
                    "-0%d",
                    "%d a",
                    "0000000000000000000%d");

    static final List<String> ENCODINGS =
            List.of(
                    "chunked",
                    "Chunked",
                    "CHUNKED",
                    "chunked, chunked",
                    "identity",
                    "gzip",
                    "gzip, chunked",
                    "chunked, identity",
                    "",
                    "x",
                    "xchunked",
                    "chunked;q=1",
                    "\"chunked\"",
                    " chunked",
                    "\tchunked",
                    "chunked ",
                    ",chunked",
                    "chunked,");

    static final List<String> NAMES_OF_ENCODING =
            List.of(
                    "Transfer-Encoding",
                    "transfer-encoding",
                    "TRANSFER-ENCODING",
                    "Transfer-Encoding ",
                    " Transfer-Encoding",
                    "Transfer-Encoding\t",
                    "Transfer-Encoding\u000b",
                    "Transfer\0-Encoding",
                    "Transfer-Encoding\u00a0");

    private static final List<String> CHUNKS =
            List.of(
                    "0\r\n\r\n",
                    "5\r\nhello\r\n0\r\n\r\n",
                    "5;a=b\r\nhello\r\n0\r\n\r\n",
                    "27;a=b\r\n0\r\n\r\n",
                    "x\r\n0\r\n\r\n",
                    "\r\n0\r\n\r\n",
                    " \r\n0\r\n\r\n",
                    "-1\r\n0\r\n\r\n",
                    "5\r\nhello0\r\n\r\n",
                    "0\r\nX: y\r\n\r\n",
                    "5\nhello\r\n0\r\n\r\n",
                    "0x5\r\nhello\r\n0\r\n\r\n",
                    "FFFFFFFF\r\n0\r\n\r\n",
                    "100000005\r\nhello\r\n0\r\n\r\n",
                    "00000000000\r\n\r\n",
                    "5\r\nhello\r\n0\r\n",
                    "1\r\nZ\r\nQ\r\n\r\n");

    private static final List<String> VERSIONS =
            List.of(
                    "HTTP/1.0",
                    "HTTP/0.9",
                    "HTTP/2.0",
                    "HTTP/3",
                    "http/1.1",
                    "HTTP/1.1.1",
                    "HTTP/11",
                    "HTTP /1.1",
                    "HTTP/1.1 ",
                    "HTTP/1.1\t",
                    "HTTP/1.",
                    "HTTP/+1.1",
                    "",
                    "HTTP/1.1 HTTP/1.1");

    private static final List<String> HOSTS =
            List.of(
                    "",
                    "Host: a\r\nHost: a\r\n",
                    "Host: a\r\nhost: b\r\n",
                    "Host:\r\n",
                    "Host: a b\r\n",
                    "Host: [::1\r\n",
                    "Host : a\r\n",
                    "Host\r\n");

    private final List<String> all = new ArrayList<>();

    /** All of them, in an order of the seed. */
    static List<String> all(long seed) {
        MalformedRequests requests = new MalformedRequests();
        for (String line :
                List.of(
                        "GET /ok",
                        "HEAD /ok",
                        "POST /json",
                        "POST /leave",
                        "PUT /none",
                        "OPTIONS /json")) {
            requests.damaged(line);
        }
        Collections.shuffle(requests.all, new Random(seed));
        return List.copyOf(requests.all);
    }

    private void damaged(String line) {
        boolean hasBody = !line.startsWith("GET") && !line.startsWith("HEAD");
        String body = hasBody ? JSON_BODY : "";
        String length = hasBody ? "Content-Length: " + body.length() + "\r\n" : "";
        String headers = "Host: a\r\nContent-Type: application/json\r\n" + length;
        inserted(line + " HTTP/1.1\r\n", headers, body);
        lines(line, headers, body);
        lengths(line, body);
        encodings(line);
    }

    /** What may stand nowhere, everywhere; what may stand in values, everywhere else. */
    private void inserted(String line, String headers, String body) {
        String head = line + headers + "\r\n";
        for (int i = 0; i <= head.length(); i++) {
            for (String what : NOWHERE) {
                all.add(head.substring(0, i) + what + head.substring(i) + body);
            }
            if (i < line.length() - 1 || isInName(head, i)) {
                for (String what : NOT_IN_NAMES) {
                    all.add(head.substring(0, i) + what + head.substring(i) + body);
                }
            }
            if (i > line.indexOf(' ') && i < head.length() - 1) {
                all.add(head.substring(0, i)); // and the next request instead of the rest
            }
        }
    }

    private static boolean isInName(String head, int at) {
        int start = head.lastIndexOf('\n', at - 1) + 1;
        int colon = head.indexOf(':', start);
        return start > 0 && colon >= at && head.indexOf('\r', start) > colon;
    }

    private void lines(String line, String headers, String body) {
        for (String version : VERSIONS) {
            all.add(line + " " + version + "\r\n" + headers + "\r\n" + body);
        }
        String lower = line.toLowerCase(Locale.ROOT);
        String mixed = line.charAt(0) + lower.substring(1);
        for (String other : List.of(lower, mixed, line.replace(' ', '\t'), line.replace(" ", ""))) {
            all.add(other + " HTTP/1.1\r\n" + headers + "\r\n" + body);
        }
        for (String host : HOSTS) {
            all.add(line + " HTTP/1.1\r\n" + headers.replace("Host: a\r\n", host) + "\r\n" + body);
        }
        String good = line + " HTTP/1.1\r\n" + headers + "\r\n";
        all.add(good.replace("\r\n", "\n") + body);
        all.add(good.replace("\r\n", "\r") + body);
        all.add(good.replace("\r\n", "\n\r") + body);
    }

    private void lengths(String line, String body) {
        String good = "Content-Length: " + body.length() + "\r\n";
        for (String format : LENGTHS) {
            String bad = "Content-Length: " + format.formatted(body.length()) + "\r\n";
            for (String headers : List.of(bad, bad + good, good + bad, good + "X: y\r\n" + bad)) {
                all.add(line + " HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body);
            }
        }
        for (String again :
                List.of(
                        good,
                        "content-length:" + body.length() + "\r\n",
                        "Content-Length: 0\r\n",
                        "Content-Length: 1\r\n")) {
            all.add(line + " HTTP/1.1\r\nHost: a\r\n" + good + again + "\r\n" + body);
            all.add(line + " HTTP/1.1\r\n" + again + "Host: a\r\n" + good + "\r\n" + body);
        }
    }

    private void encodings(String line) {
        for (String name : NAMES_OF_ENCODING) {
            for (String value : ENCODINGS) {
                String encoding = name + ": " + value + "\r\n";
                encoded(line, encoding, CHUNKS.getFirst());
            }
            for (String chunks : CHUNKS) {
                encoded(line, name + ": chunked\r\n", chunks);
            }
        }
    }

    private void encoded(String line, String encoding, String chunks) {
        String start = line + " HTTP/1.1\r\n";
        String type = "Content-Type: application/json\r\n";
        String length = "Content-Length: " + chunks.length() + "\r\n";
        all.add(start + "Host: a\r\n" + type + encoding + "\r\n" + chunks);
        all.add(start + encoding + "Host: a\r\n" + type + "\r\n" + chunks);
        all.add(start + "Host: a\r\n" + type + length + encoding + "\r\n" + chunks);
        all.add(start + "Host: a\r\n" + type + encoding + length + "\r\n" + chunks);
        all.add(start + "Host: a\r\n" + type + encoding + encoding + "\r\n" + chunks);
    }
}
