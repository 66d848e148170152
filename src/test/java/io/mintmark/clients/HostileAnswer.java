package io.mintmark.clients;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * One generated answer to a request for the credentials of the key {@code deploy}.
 *
 * @param kind names what is wrong with it
 * @param raw all that the server sends before it closes the connection, a character for each byte
 * @param exit the client's exit code that is right for it
 * @param members the variables of the command that the client runs, if the exit code is 0
 */
record HostileAnswer(String kind, String raw, int exit, Map<String, String> members) {
    /** Part of every value of a credential. */
    static final String SECRET = "S3cr3tV4lu3";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int REFUSED = 1;
    private static final int NOT_REACHABLE = 3;
    private static final int HUGE = 1_300_000;
    private static final int LARGE = 1_000_000;
    private static final int CHUNK = 3000;

    private static final List<String> ACCEPTED =
            List.of(
                    "AWS_ACCESS_KEY_ID",
                    "AWS_SECRET_ACCESS_KEY",
                    "MINIO_ENDPOINT",
                    "ACCESS_TOKEN",
                    "GITHUB_TOKEN",
                    "PGPASSWORD",
                    "SSH_PRIVATE_KEY",
                    "KUBE_TOKEN");

    private static final List<String> NAMES =
            List.of(
                    "PATH",
                    "LD_PRELOAD",
                    "MAKEFLAGS",
                    "LESSOPEN",
                    "_JAVA_OPTIONS",
                    "GCONV_PATH",
                    "IFS",
                    "OPENSSL_CONF",
                    "BASH_FUNC_jq",
                    "HOME",
                    "MINTMARK_TOKEN",
                    "mm_output",
                    "PS4",
                    "access_token",
                    "ACCESS_TOKEN2",
                    "AWS_PROFILE",
                    "X",
                    "_",
                    "UID",
                    "OPTIND");

    /** What shells, terminals and runners of pipelines act on. */
    private static final List<String> PIECES =
            List.of(
                    "'", "\"",
                    "$(touch pwned)", "`touch pwned`",
                    "\\", "\n",
                    "\t", "=",
                    ";", "&",
                    " ", "$IFS",
                    "::set-env name=PATH::/tmp", "##[add-path]/tmp",
                    "%0A", "\n::add-path::/tmp",
                    "--", "*",
                    "é", "\uD83D\uDE00",
                    "${PATH}", "!",
                    "#", "EOF",
                    "\n.\n", "export PATH=/tmp");

    private static final List<String> CONTROL =
            List.of("\u0000", "\u001b[2J", "\r", "\u007f", "\u009b31m", "\b");

    /** Makes one kind of answer. */
    private interface Kind {
        HostileAnswer make(Generator generator);
    }

    private static final List<Map.Entry<String, Kind>> KINDS =
            List.of(
                    Map.entry("accepted members with wild values", HostileAnswer::accepted),
                    Map.entry("a member that is not accepted", HostileAnswer::unexpected),
                    Map.entry("a name that is none", HostileAnswer::badName),
                    Map.entry("a value that is none", HostileAnswer::badValue),
                    Map.entry("a body of another shape", HostileAnswer::otherShape),
                    Map.entry("deep JSON", HostileAnswer::deep),
                    Map.entry("a huge answer", HostileAnswer::huge),
                    Map.entry("an error with wild words", HostileAnswer::error),
                    Map.entry("a redirection", HostileAnswer::redirection),
                    Map.entry("no HTTP", HostileAnswer::garbage),
                    Map.entry("an answer that is cut", HostileAnswer::cut),
                    Map.entry("wild headers", HostileAnswer::headers));

    /** A seeded source of names, texts and values. */
    private record Generator(String kind, RandomGenerator random) {

        <T> T one(List<T> of) {
            return of.get(random.nextInt(of.size()));
        }

        String wild() {
            StringBuilder text = new StringBuilder(SECRET);
            for (int i = random.nextInt(8); i >= 0; i--) {
                text.insert(random.nextBoolean() ? 0 : text.length(), one(PIECES));
            }
            return text.toString();
        }

        ObjectNode members() {
            ObjectNode members = JSON.createObjectNode();
            for (int i = random.nextInt(4); i >= 0; i--) {
                members.put(one(ACCEPTED), wild());
            }
            return members;
        }

        HostileAnswer answer(String raw, int exit) {
            return new HostileAnswer(kind, raw, exit, Map.of());
        }

        HostileAnswer answer(int status, String body, int exit) {
            return answer(response(status, "", body), exit);
        }

        HostileAnswer refused(ObjectNode members) {
            return answer(200, minted(members), REFUSED);
        }
    }

    static HostileAnswer of(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        Map.Entry<String, Kind> kind = KINDS.get(random.nextInt(KINDS.size()));
        return kind.getValue().make(new Generator(kind.getKey(), random));
    }

    void writeTo(OutputStream out) throws IOException {
        out.write(raw.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String minted(Object members) {
        return JSON.valueToTree(
                        Map.of(
                                "credentials",
                                Map.of("deploy", members),
                                "expiresAt",
                                "2099-01-01T00:00:00Z"))
                .toString();
    }

    private static String response(int status, String headers, String body) {
        String text =
                new String(body.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        return "HTTP/1.1 %d Word\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s"
                .formatted(status, headers, text.length(), text);
    }

    private static HostileAnswer accepted(Generator generator) {
        ObjectNode members = generator.members();
        Map<String, String> variables = new TreeMap<>();
        members.properties()
                .forEach(member -> variables.put(member.getKey(), member.getValue().asText()));
        String answer = minted(members);
        String others =
                answer.replaceFirst("\\{\"deploy\"", "{\"other\":{\"PATH\":\"x\"},\"deploy\"");
        return new HostileAnswer(
                generator.kind(), response(200, "", others), 0, Map.copyOf(variables));
    }

    private static HostileAnswer unexpected(Generator generator) {
        return generator.refused(generator.members().put(generator.one(NAMES), generator.wild()));
    }

    private static HostileAnswer badName(Generator generator) {
        return generator.refused(
                generator.members().put(generator.wild() + generator.one(PIECES) + "=", "x"));
    }

    private static HostileAnswer badValue(Generator generator) {
        ObjectNode members = generator.members();
        String name = generator.one(ACCEPTED);
        switch (generator.random().nextInt(5)) {
            case 0 -> members.put(name, generator.random().nextInt());
            case 1 -> members.putNull(name);
            case 2 -> members.putArray(name).add(SECRET);
            case 3 -> members.putObject(name).put("AWS_REGION", SECRET);
            default -> members.put(name, generator.wild() + generator.one(CONTROL));
        }
        return generator.refused(members);
    }

    private static HostileAnswer otherShape(Generator generator) {
        String credentials =
                generator.one(
                        List.of(
                                "[]",
                                "null",
                                "{}",
                                "{\"deploy\": []}",
                                "{\"deploy\": \"%s\"}",
                                "1",
                                "\"%s\""));
        return generator.random().nextBoolean()
                ? generator.answer(
                        200,
                        "{\"credentials\": %s}".formatted(credentials.replace("%s", SECRET)),
                        REFUSED)
                : generator.answer(
                        200,
                        generator
                                .one(List.of("", "[]", "\"%s\"", "{", "nan", "{}{}", "%s"))
                                .replace("%s", SECRET),
                        NOT_REACHABLE);
    }

    private static HostileAnswer deep(Generator generator) {
        int depth = 30_000 + generator.random().nextInt(50_000);
        return generator.answer(
                200,
                "{\"credentials\":" + "[".repeat(depth) + "]".repeat(depth) + "}",
                NOT_REACHABLE);
    }

    private static HostileAnswer huge(Generator generator) {
        String piece = generator.one(List.of("x", "\n", "HTTP/1.1 200 OK\r\n\r\n", "[", "\""));
        if (generator.random().nextBoolean()) {
            int length = generator.one(List.of(HUGE, LARGE));
            return generator.answer(200, piece.repeat(length / piece.length()), NOT_REACHABLE);
        }
        String chunk = "%x\r\n%s\r\n".formatted(CHUNK, "y".repeat(CHUNK));
        String head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        return generator.answer(head + chunk.repeat(HUGE / CHUNK), NOT_REACHABLE);
    }

    private static HostileAnswer error(Generator generator) {
        ObjectNode error = JSON.createObjectNode().put("error", text(generator));
        error.put("message", text(generator)).put("requestId", text(generator));
        if (generator.random().nextBoolean()) {
            error.put("retryAfter", generator.one(List.of(-1e300, 1e300, 77.5, Double.MAX_VALUE)));
        }
        error.putObject("details")
                .put("reason", text(generator))
                .putArray("allowedKeys")
                .add(text(generator))
                .add(1);
        int status = generator.one(List.of(400, 401, 403, 404, 418, 500));
        return generator.answer(status, error.toString(), REFUSED);
    }

    /** Words of a broker, which may be anything but a credential. */
    private static String text(Generator generator) {
        return generator.wild().replace(SECRET, "") + generator.one(CONTROL) + "\u202e###[x]:::";
    }

    private static HostileAnswer redirection(Generator generator) {
        int status = generator.one(List.of(301, 302, 303, 307, 308));
        String location = generator.one(List.of("http://127.0.0.1:1/", "file:///etc/passwd", "/"));
        return generator.answer(
                response(status, "Location: " + location + "\r\n", ""), NOT_REACHABLE);
    }

    private static HostileAnswer garbage(Generator generator) {
        byte[] bytes = new byte[generator.random().nextInt(2000)];
        generator.random().nextBytes(bytes);
        return generator.answer(new String(bytes, StandardCharsets.ISO_8859_1), NOT_REACHABLE);
    }

    private static HostileAnswer cut(Generator generator) {
        String whole = response(200, "", minted(generator.members()));
        return generator.answer(
                whole.substring(0, generator.random().nextInt(whole.length())), NOT_REACHABLE);
    }

    private static HostileAnswer headers(Generator generator) {
        ObjectNode members = JSON.createObjectNode().put("ACCESS_TOKEN", SECRET);
        String headers =
                generator.one(
                        List.of(
                                "Retry-After: " + "9".repeat(500) + "\r\n",
                                "Date: Sun, 99 Foo 99999999999 99:99:99 GMT\r\n",
                                "X: " + "y".repeat(50_000) + "\r\n",
                                "Set-Cookie: a=b; HTTP/1.1 500\r\n",
                                "X-Y: \u00ff\u0001\r\n",
                                "HTTP/1.1 500 No\r\n",
                                "A: b\r\n".repeat(1000)));
        return new HostileAnswer(
                generator.kind(),
                response(200, headers, minted(members)),
                0,
                Map.of("ACCESS_TOKEN", SECRET));
    }
}
