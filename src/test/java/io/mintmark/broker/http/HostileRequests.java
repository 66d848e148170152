package io.mintmark.broker.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Requests that make a parser recurse, backtrack, copy or compare more than their length is worth,
 * and such as it might misread. One seed gives one sequence. Each is a head that is whole, or that
 * its end makes malformed; none has a body.
 */
final class HostileRequests {
    private static final int[] LENGTHS = {1, 2, 31, 32, 33, 127, 129, 300, 1_000, 4_100, 9_000};
    private static final int[] LONG_LENGTHS = {16_000, 20_400, 20_480, 33_000, 70_000};

    private static final String[] METHODS = {
        "GET", "HEAD", "OPTIONS", "POST", "PUT", "CONNECT", "TRACE", "M-SEARCH", "BREW"
    };
    private static final String[] METHOD_PIECES = {
        "A", "A-", "-A", "-", "--", "GET", "get", "G\0T", "G\tT", "A1", "\u00c4", "GET ", "A,",
        "%41"
    };
    private static final String[] PATHS = {
        "/health",
        "/credentials/keys",
        "/credentials/idp-providers",
        "/sdk/aws/deploy",
        "/sdk/sts",
        "/tenants/acme/.well-known/jwks.json",
        "/oauth2/token",
        "/tenants/acme/oauth2/v2.0/token",
        "/sign/deploy",
        "/ssh/acme/krl",
        "/x509/acme/tls/crl",
        "/explain",
        "/",
        "/nothing",
        "/observe/metrics",
        "/style/console.css"
    };
    private static final String[] PATH_PIECES = {
        "/",
        "/a",
        "/.",
        "/..",
        "/;",
        ";",
        ";a=b",
        "/a/..",
        "/%2e%2e",
        "%2f",
        "%",
        "%%",
        "%4",
        "%zz",
        "%00",
        "%c0%ae",
        "%25",
        "%41",
        ":",
        "@",
        "a:b@",
        "a.a",
        ".a",
        "\\",
        "\"",
        "<",
        "|",
        "[",
        "]",
        "^",
        "`",
        "{",
        "\t",
        "\0",
        "\u007f",
        "\u00ff",
        "#",
        "*",
        "~",
        "!$&'()*+,="
    };
    private static final String[] QUERY_PIECES = {
        "&",
        "a&",
        "a=b&",
        "token=a&",
        "=",
        ":",
        "a:b",
        "/",
        "?",
        "@",
        "%",
        "%4",
        "%41",
        "%00",
        "%zz",
        "+",
        ";",
        "[",
        "]",
        "|",
        "\"",
        "#",
        "\t",
        "\0",
        "\u00ff",
        "!$'()*,",
        "eyJ",
        "~-._"
    };
    private static final String[] AUTHORITIES = {
        "localhost",
        "localhost:80",
        "LOCALHOST:8080",
        "127.0.0.1",
        "[::1]",
        "[::1]:8080",
        "[::ffff:1.2.3.4]",
        "a.b-c_d~e",
        "%41",
        "",
        ":80",
        "localhost:",
        "localhost:0",
        "localhost:65535",
        "localhost:65536",
        "localhost:999999999999",
        "localhost:-1",
        "localhost:+80",
        "localhost:8a",
        "user@localhost",
        "user:secret@localhost",
        "@localhost",
        "a@b@c",
        "[::1",
        "::1",
        "[",
        "]",
        "[]",
        "[:::]",
        "[g::1]",
        "[1:2:3:4:5:6:7:8:9]",
        "[::1]a",
        "[::1]:",
        "[v1.a]",
        "[fe80::1%25eth0]",
        "a b",
        "a\tb",
        "a\\b",
        "a,b",
        "a/b",
        "\u00e4",
        "a\0b",
        "<a>",
        "localhost:80:80"
    };
    private static final String[] SCHEMES = {
        "http://",
        "https://",
        "HTTP://",
        "Https://",
        "http:",
        "http:/",
        "http:///",
        "ftp://",
        "ws://",
        "//",
        "file:///",
        "javascript:",
        "http//",
        "://",
        "httpx://",
        "h t://"
    };
    private static final String[] VERSIONS = {
        "HTTP/1.1",
        "HTTP/1.1",
        "HTTP/1.1",
        "HTTP/1.0",
        "HTTP/2.0",
        "http/1.1",
        "HTTP/1.1 ",
        "",
        "HTTP/1.1\t",
        "HTTP/1.1 HTTP/1.1"
    };
    private static final String[] NAMES = {
        "Host",
        "X-Forwarded-For",
        "Forwarded",
        "Connection",
        "Cookie",
        "Accept",
        "Authorization",
        "Origin",
        "User-Agent",
        "X-Request-ID",
        "Content-Length",
        "Expect",
        "X",
        "Referer",
        "Content-Type",
        "Transfer-Encoding",
        "Upgrade"
    };
    private static final String[] VALUE_PIECES = {
        "a",
        "a,",
        ",",
        ", ",
        ";",
        "a=b;",
        "a=b; ",
        "1.1.1.1,",
        "[",
        "]",
        "[::1]:1,",
        "1:",
        ":",
        "::",
        "1.",
        "\"",
        "\\\"",
        "\t",
        " ",
        "q=0.1,",
        "text/html;q=0.1,",
        "*/*,",
        "eyJ",
        "eyJa.",
        "Bearer ",
        "0",
        "9",
        "-",
        "\0",
        "\u0001",
        "\u007f",
        "\u00ff",
        "%",
        "for=\"[::1]\";",
        "http://",
        "/",
        "close,",
        "\u000b"
    };

    /** Two texts with the same hash; so have all texts that are made of the same number of them. */
    private static final String[] COLLIDING = {"Aa", "BB"};

    private final Random random;

    private HostileRequests(long seed) {
        this.random = new Random(seed);
    }

    static List<String> of(int count, long seed) {
        HostileRequests requests = new HostileRequests(seed);
        List<Supplier<String>> kinds =
                List.of(
                        requests::ofMethod,
                        requests::ofPath,
                        requests::ofQuery,
                        requests::absolute,
                        requests::ofVersion,
                        requests::ofHost,
                        requests::ofHeader,
                        requests::ofName,
                        requests::ofManyHeaders,
                        requests::ofSameHash,
                        requests::ofLines);
        List<String> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(kinds.get(i % kinds.size()).get());
        }
        return all;
    }

    private String ofMethod() {
        return request(repeated(METHOD_PIECES) + (rarely() ? "" : one("", "A", "GET")), path(), "");
    }

    private String ofPath() {
        return request(method(), (rarely() ? "" : path()) + repeated(PATH_PIECES), "");
    }

    private String ofQuery() {
        return request(method(), path() + "?" + repeated(QUERY_PIECES) + one(QUERY_PIECES), "");
    }

    private String absolute() {
        String rest =
                rarely() ? repeated(PATH_PIECES) : one(path(), "", "?" + repeated(QUERY_PIECES));
        String authority = random.nextInt(10) == 0 ? repeated(AUTHORITIES) : one(AUTHORITIES);
        return request(method(), one(SCHEMES) + authority + rest, "");
    }

    private String ofVersion() {
        return "%s %s %s\r\nHost: a\r\n\r\n".formatted(method(), path(), one(VERSIONS));
    }

    private String ofHost() {
        String host = rarely() ? "[" + "a:".repeat(length()) + "]" : one(AUTHORITIES);
        return "%s %s HTTP/1.1\r\nHost: %s\r\n\r\n".formatted(method(), path(), host);
    }

    private String ofHeader() {
        return request(method(), path(), one(NAMES) + ": " + repeated(VALUE_PIECES) + "\r\n");
    }

    private String ofName() {
        return request(method(), path(), repeated(VALUE_PIECES) + one(":", "", " :") + "x\r\n");
    }

    private String ofManyHeaders() {
        String field = one(NAMES) + ": " + one(VALUE_PIECES) + "\r\n";
        return request(method(), path(), field.repeat(one(1, 5, 100, 127, 128, 129, 2_000)));
    }

    private String ofSameHash() {
        StringBuilder fields = new StringBuilder();
        int count = one(100, 127, 2_000);
        for (int i = 0; i < count; i++) {
            for (int bit = 0; bit < 11; bit++) {
                fields.append(COLLIDING[i >> bit & 1]);
            }
            fields.append(":\r\n");
        }
        return request(method(), path(), fields.toString());
    }

    /** Ends of lines where there should be none, and none where there should be. */
    private String ofLines() {
        String good = request(method(), path(), "X: y\r\n");
        int at = random.nextInt(good.length());
        String odd =
                one("\r", "\n", "\0", "\r\n", "\r\n\r\n", "\r\n ", "\t", "\n\n", "\r\r\n", " ");
        return good.substring(0, at) + odd.repeat(one(1, 2, 1_000)) + good.substring(at);
    }

    private String request(String method, String target, String fields) {
        return "%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n".formatted(method, target, fields);
    }

    private String method() {
        return rarely() ? one(METHODS) : "GET";
    }

    private String path() {
        return one(PATHS);
    }

    private String repeated(String... pieces) {
        String piece = one(pieces) + (rarely() ? one(pieces) : "");
        return piece.repeat(Math.max(1, length() / Math.max(1, piece.length())));
    }

    private int length() {
        return rarely() ? LONG_LENGTHS[random.nextInt(LONG_LENGTHS.length)] : one(LENGTHS);
    }

    private boolean rarely() {
        return random.nextInt(4) == 0;
    }

    private int one(int... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private String one(String... choices) {
        return choices[random.nextInt(choices.length)];
    }
}
