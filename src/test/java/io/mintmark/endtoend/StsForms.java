package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.w3c.dom.Document;
import org.xml.sax.SAXException;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;

/** Requests of AWS STS's query protocol, and its answers. */
public final class StsForms {
    public static final String TYPE = "application/x-www-form-urlencoded; charset=utf-8";
    private static final String NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";

    private StsForms() {}

    /** What SDKs send for a role. */
    public static Map<String, String> form(String token, String role) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("Action", "AssumeRoleWithWebIdentity");
        form.put("Version", "2011-06-15");
        form.put("RoleArn", role);
        form.put("RoleSessionName", "session");
        form.put("WebIdentityToken", token);
        return form;
    }

    public static String encoded(Map<String, String> form) {
        List<String> pairs = new ArrayList<>();
        form.forEach((name, value) ->
                pairs.add(
                        URLEncoder.encode(name, StandardCharsets.UTF_8)
                                + "="
                                + URLEncoder.encode(value, StandardCharsets.UTF_8)));
        return String.join("&", pairs);
    }

    static HttpRequest.Builder request(URI broker, String body) {
        return HttpRequest.newBuilder(broker.resolve("/sdk/sts"))
                .header("Content-Type", TYPE)
                .POST(BodyPublishers.ofString(body));
    }

    /** The text of the only element of this name. */
    static String text(Answer answer, String element) {
        var elements = parsed(answer.response().body()).getElementsByTagNameNS(NAMESPACE, element);
        if (elements.getLength() != 1) {
            throw new AssertionError(
                    "%d elements %s in %s".formatted(elements.getLength(), element, answer));
        }
        return elements.item(0).getTextContent();
    }

    /** Status and code, of an error that is as AWS writes them. */
    static String verdict(Answer answer) {
        assertEquals("text/xml", answer.header("Content-Type"));
        assertEquals("no-store", answer.header("Cache-Control"));
        assertEquals(answer.status() >= 500 ? "Receiver" : "Sender", text(answer, "Type"));
        String requestId = answer.header("X-Request-ID");
        assertEquals(requestId, text(answer, "RequestId"));
        assertTrue(message(answer).endsWith("(request %s)".formatted(requestId)));
        return answer.status() + " " + text(answer, "Code");
    }

    /** What an error says. */
    static String message(Answer answer) {
        return text(answer, "Message");
    }

    /** The document, if it is well-formed. */
    public static Document parsed(String xml) {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultNSInstance();
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            DocumentBuilder builder = factory.newDocumentBuilder();
            builder.setErrorHandler(null);
            return builder.parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
        } catch (ParserConfigurationException | SAXException | IOException e) {
            throw new AssertionError("not well-formed: " + xml, e);
        }
    }
}
