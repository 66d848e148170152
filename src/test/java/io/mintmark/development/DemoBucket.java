package io.mintmark.development;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;

import io.mintmark.Unchecked;
import io.mintmark.provider.sts.StsStandIn;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A bucket with one object, as much of S3 as lists and reads it. It lets in who signs (AWS
 * Signature Version 4) with a credential of the {@link StsStandIn} beside it.
 */
public final class DemoBucket implements HttpHandler {
    public static final String PATH = "/demo-bucket";

    private static final String OBJECT = "hello.txt";
    private static final byte[] CONTENT = bytes("Hello from the demo bucket.\n");
    private static final Pattern AUTHORIZATION =
            Pattern.compile(
                    "AWS4-HMAC-SHA256"
                            + " Credential=[A-Z]+(\\d{1,9})/(\\d{8})/([\\w-]+)/s3/aws4_request,"
                            + " ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})");
    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            if (!isSigned(exchange)) {
                send(exchange, FORBIDDEN, error("SignatureDoesNotMatch"));
            } else if (path.equals(PATH) || path.equals(PATH + "/")) {
                send(exchange, OK, list());
            } else if (path.equals(PATH + "/" + OBJECT)) {
                send(exchange, OK, CONTENT);
            } else {
                send(exchange, NOT_FOUND, error("NoSuchKey"));
            }
        }
    }

    private static byte[] list() {
        return bytes(
                """
                <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
                <Name>demo-bucket</Name><Prefix></Prefix><KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys>
                <IsTruncated>false</IsTruncated>
                <Contents><Key>%s</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>
                <ETag>"demo"</ETag><Size>%d</Size><StorageClass>STANDARD</StorageClass></Contents>
                </ListBucketResult>
                """
                        .formatted(OBJECT, CONTENT.length));
    }

    private static byte[] error(String code) {
        return bytes("<Error><Code>%s</Code><Message>No.</Message></Error>".formatted(code));
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "application/xml");
        exchange.getResponseHeaders().set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
            exchange.sendResponseHeaders(status, -1);
        } else {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private static boolean isSigned(HttpExchange exchange) {
        Matcher given = AUTHORIZATION.matcher(header(exchange, "Authorization"));
        if (!given.matches()) {
            return false;
        }
        int number = Integer.parseInt(given.group(1));
        String scope = "%s/%s/s3/aws4_request".formatted(given.group(2), given.group(3));
        String toSign =
                String.join(
                        "\n",
                        "AWS4-HMAC-SHA256",
                        header(exchange, "X-Amz-Date"),
                        scope,
                        sha256(canonical(exchange, given.group(4))));
        byte[] key = bytes("AWS4" + StsStandIn.secretKey(number));
        for (String part : List.of(given.group(2), given.group(3), "s3", "aws4_request")) {
            key = hmac(key, part);
        }
        return header(exchange, "X-Amz-Security-Token").equals(StsStandIn.sessionToken(number))
                && MessageDigest.isEqual(
                        hmac(key, toSign), HexFormat.of().parseHex(given.group(5)));
    }

    /** The canonical request of AWS's "Signature Version 4 signing process". */
    private static String canonical(HttpExchange exchange, String signedHeaders) {
        String query = exchange.getRequestURI().getRawQuery();
        String sorted =
                query == null
                        ? ""
                        : Arrays.stream(query.split("&"))
                                .map(pair -> pair.contains("=") ? pair : pair + "=")
                                .sorted()
                                .collect(Collectors.joining("&"));
        String headers =
                Arrays.stream(signedHeaders.split(";"))
                        .map(name -> name + ":" + header(exchange, name).strip() + "\n")
                        .collect(Collectors.joining());
        return String.join(
                "\n",
                exchange.getRequestMethod(),
                exchange.getRequestURI().getRawPath(),
                sorted,
                headers,
                signedHeaders,
                header(exchange, "X-Amz-Content-Sha256"));
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name.toLowerCase(Locale.ROOT));
        return value == null ? "" : value;
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(bytes(text));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String sha256(String text) {
        return Unchecked.call(() ->
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes(text))));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
