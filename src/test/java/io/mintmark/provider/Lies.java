package io.mintmark.provider;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

/** Answers that no honest service gives, by chance but the same for the same seed. */
final class Lies {
    /** Where a request has what nobody may be told, in forms, in JSON and in its head. */
    private static final Pattern SECRETS =
            Pattern.compile(
                    "(?:client_assertion|client_secret|subject_token|jwt|WebIdentityToken)=([^&\\s]+)"
                            + "|\"(?:subjectToken|subject_token|assertion)\":\"([^\"]+)\"|Authorization:"
                            + " (?:Basic|Bearer) (\\S+)");

    private static final List<String> MEMBERS =
            List.of(
                    "access_token",
                    "accessToken",
                    "token_type",
                    "issued_token_type",
                    "expires_in",
                    "expireTime",
                    "token",
                    "expires_at",
                    "permissions",
                    "repositories",
                    "message",
                    "values",
                    "expiresAt",
                    "credentialId",
                    "endsByItself",
                    "detail",
                    "error",
                    "error_description",
                    "refresh_token",
                    "further");

    private static final List<UnaryOperator<String>> FORMS =
            List.of(
                    text -> text,
                    text -> URLEncoder.encode(text, StandardCharsets.UTF_8),
                    text -> Base64.getEncoder().encodeToString(bytes(text)),
                    text -> Base64.getUrlEncoder().encodeToString(bytes("x:" + text)),
                    text -> HexFormat.of().formatHex(bytes(text)),
                    text -> text.replace("&", "&amp;").replace("+", "&#43;"),
                    text -> text.substring(text.length() / 3),
                    text -> text.substring(0, text.length() * 2 / 3),
                    text -> String.join("\\n", text.split("(?<=\\G.{30})")));

    private final SplittableRandom random;

    Lies(long seed) {
        random = new SplittableRandom(seed);
    }

    /** What a request sent that must not be repeated. */
    static List<String> secrets(String request) {
        List<String> secrets = new ArrayList<>();
        Matcher found = SECRETS.matcher(request);
        while (found.find()) {
            for (int group = 1; group <= found.groupCount(); group++) {
                if (found.group(group) != null) {
                    secrets.add(
                            group == 1
                                    ? URLDecoder.decode(found.group(group), StandardCharsets.UTF_8)
                                    : found.group(group));
                }
            }
        }
        return secrets;
    }

    void tell(String request, OutputStream out) throws IOException, InterruptedException {
        List<String> secrets = secrets(request);
        String quoted = secrets.isEmpty() ? "nothing" : pick(FORMS).apply(pick(secrets));
        byte[] body = bytes(request.contains("Action=Assume") ? xml(quoted) : json(quoted));
        int status = pick(List.of(200, 200, 200, 201, 400, 400, 401, 403, 404, 500));
        switch (random.nextInt(16)) {
            case 0 -> out.write(with(status, "Content-Length: " + body.length * 2, body));
            case 1 -> out.write(with(status, "Content-Length: " + body.length / 2, body));
            case 2 -> out.write(with(status, "Content-Length: -1", body));
            case 3 -> out.write(with(status, "Transfer-Encoding: chunked", bytes(quoted + "\r\n")));
            case 4 -> drip(out, with(status, "Content-Length: " + body.length, body));
            case 5 -> out.write(with(status, "X-Long: " + "x".repeat(200_000), body));
            case 6 -> out.write(with(307, "Location: http://127.0.0.1/" + quoted, new byte[0]));
            case 7 -> flood(out);
            case 8 -> out.write(with(status, "Content-Encoding: gzip", bomb()));
            case 9 -> out.write(with(status, "Content-Type: text/html", bomb()));
            case 10 -> out.write(bytes("HTTP/1.1 " + quoted + "\r\n\r\n"));
            case 11 -> out.write(with(status, "x-amzn-RequestId: " + quoted, body));
            default -> out.write(with(status, "Content-Length: " + body.length, body));
        }
    }

    private static byte[] with(int status, String header, byte[] body) {
        byte[] head =
                bytes(
                        "HTTP/1.1 %d Said\r\n%s\r\nConnection: close\r\n\r\n"
                                .formatted(status, header));
        byte[] all = new byte[head.length + body.length];
        System.arraycopy(head, 0, all, 0, head.length);
        System.arraycopy(body, 0, all, head.length, body.length);
        return all;
    }

    /** More slowly than anybody waits. */
    private static void drip(OutputStream out, byte[] answer)
            throws IOException, InterruptedException {
        for (byte each : answer) {
            out.write(each);
            Thread.sleep(20);
        }
    }

    private static void flood(OutputStream out) throws IOException {
        for (int i = 0; i < 2_000; i++) {
            out.write(bytes("HTTP/1.1 100 Continue\r\n\r\n"));
        }
    }

    private static byte[] bomb() throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            gzip.write(new byte[5_000_000]);
        }
        return packed.toByteArray();
    }

    private String json(String quoted) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("access_token", "\"t%d\"".formatted(random.nextInt(1_000_000)));
        members.put("token_type", "\"Bearer\"");
        members.put("expires_in", "3600");
        members.put("accessToken", members.get("access_token"));
        members.put("token", members.get("access_token"));
        members.put("status", "{\"token\":\"t\",\"expirationTimestamp\":\"2999-01-01T00:00:00Z\"}");
        members.put("expires_at", "\"2999-01-01T00:00:00Z\"");
        members.put("permissions", "{\"contents\":\"read\"}");
        members.put("repositories", "[{\"name\":\"a\"}]");
        members.put(
                "values",
                "{\"a\":\"t\",\"b\":\"%s\"}".formatted(random.nextBoolean() ? "x" : quoted));
        members.put("expiresAt", "\"2999-01-01T00:00:00Z\"");
        members.put("credentialId", random.nextInt(4) == 0 ? "\"%s\"".formatted(quoted) : "\"c\"");
        members.put("expireTime", "\"2999-01-01T00:00:00Z\"");
        if (random.nextBoolean()) {
            members.put("error", "\"invalid_request\"");
            members.put("error_description", "\"I saw %s here\"".formatted(quoted));
            members.put("detail", members.get("error_description"));
        }
        for (int lies = random.nextInt(3); lies > 0; lies--) {
            members.put(pick(MEMBERS), value(quoted));
        }
        StringBuilder text = new StringBuilder("{");
        members.forEach((name, value) -> text.append("\"%s\":%s,".formatted(name, value)));
        text.append("\"%s\":7}".formatted(random.nextInt(4) == 0 ? pick(MEMBERS) : "last"));
        return text + pick(List.of("", "", "", "", "", "", "{}", quoted));
    }

    private String value(String quoted) {
        return switch (random.nextInt(14)) {
            case 0 -> "null";
            case 1 -> "true";
            case 2 -> "9".repeat(60_000);
            case 3 -> "1e" + random.nextInt();
            case 4 -> "[".repeat(5_000) + "]".repeat(5_000);
            case 5 -> "{\"message\":\"%s\",\"status\":\"%s\"}".formatted(quoted, quoted);
            case 6 -> "\"\\ud800\\u0000\\u202e\\r\\n\"";
            case 7 -> "\"" + "x".repeat(random.nextInt(70_000)) + "\"";
            case 8 -> "18446744073709551617";
            case 9 -> "-" + random.nextInt(1_000);
            case 10 -> "" + random.nextInt(1_000_000);
            default -> "\"%s\"".formatted(quoted);
        };
    }

    private String xml(String quoted) {
        String id = random.nextBoolean() ? "ASIA" + random.nextInt(1_000_000) : quoted;
        String token = random.nextBoolean() ? "FwoG" + random.nextLong() : quoted;
        return random.nextBoolean()
                ? """
                <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">\
                <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>%s</AccessKeyId>\
                <SecretAccessKey>x</SecretAccessKey><SessionToken>%s</SessionToken>\
                <Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
                </AssumeRoleWithWebIdentityResponse>\
                """
                        .formatted(
                                id,
                                token,
                                pick(List.of("2999-01-01T00:00:00Z", "soon", "", quoted)))
                : """
                <ErrorResponse><Error><Code>%s</Code><Message>I saw %s here</Message></Error>\
                <RequestId>%s</RequestId></ErrorResponse>\
                """
                        .formatted(
                                pick(List.of("InvalidIdentityToken", "AccessDenied", quoted)),
                                quoted,
                                quoted);
    }

    private <T> T pick(List<T> some) {
        return some.get(random.nextInt(some.size()));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
