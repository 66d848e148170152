package io.mintmark.provider.sts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.ErrorHandler;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;

import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sts.model.Credentials;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;

/** Answers that somebody has tampered with, read by the broker and by the JDK's own parser. */
@Tag("heavy")
class StsDocumentTest {
    private static final int DOCUMENTS = 20_000;
    private static final String CREDENTIALS = "/AssumeRoleWithWebIdentityResult/Credentials/";

    /** What may not stand there twice. */
    private static final Set<String> ONCE =
            Set.of(
                    CREDENTIALS + "AccessKeyId",
                    CREDENTIALS + "SecretAccessKey",
                    CREDENTIALS + "SessionToken",
                    CREDENTIALS + "Expiration",
                    "/Error/Code",
                    "/Error/Message",
                    "/RequestId");

    private static final String WHOLE =
            """
            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
              <AssumeRoleWithWebIdentityResult>
                <AssumedRoleUser><Arn>arn:é&amp;x</Arn></AssumedRoleUser>
                <Credentials>
                  <AccessKeyId>ASIA1</AccessKeyId>
                  <SecretAccessKey>s/e+c&#x72;et</SecretAccessKey>
                  <SessionToken><![CDATA[to<k>en]]>&lt;<!-- no --></SessionToken>
                </Credentials>
              </AssumeRoleWithWebIdentityResult>
              <RequestId>r</RequestId>
            </AssumeRoleWithWebIdentityResponse>
            """;

    /**
     * What means something to one parser or another. Both agree on it, as they don't on a byte
     * order mark, on noncharacters, and on which characters a name may have.
     */
    private static final List<String> PIECES =
            List.of(
                    "<",
                    ">",
                    "/>",
                    "&",
                    ";",
                    "\"",
                    "'",
                    "=",
                    " ",
                    "\r\n",
                    "\r",
                    "\t",
                    "\0",
                    "\u0085",
                    "\u2028",
                    "<![CDATA[",
                    "]]>",
                    "<!--",
                    "-->",
                    "--",
                    "<?p ?>",
                    "<?xml version=\"1.1\"?>",
                    "<?xml version=\"1.0\" standalone=\"yes\"?>",
                    "<!DOCTYPE x>",
                    "<!DOCTYPE x [<!ENTITY c \"y\">]>",
                    "&c;",
                    "&amp;",
                    "&apos;",
                    "&#0;",
                    "&#9;",
                    "&#x1F600;",
                    "&#xD800;",
                    "&#65",
                    "&#99999999999;",
                    "xmlns:a=\"b\"",
                    "a:",
                    "xmlns=\"\"",
                    "xml:space=\"preserve\"",
                    "b=\"c\" b=\"d\"",
                    "<Credentials>",
                    "</Credentials>",
                    "<AccessKeyId>",
                    "</AccessKeyId>",
                    "<AccessKeyId/>",
                    "<SessionToken>x</SessionToken>",
                    "<a><b>",
                    "</b></a>");

    private final Random random = new Random(42);

    @Test
    void it_reads_what_another_parser_reads_and_refuses_what_that_refuses() {
        int read = 0;
        int refused = 0;
        for (int i = 0; i < DOCUMENTS; i++) {
            String document = tamperedWith();
            Optional<Map<String, String>> expected = readByAnother(document);

            assertEquals(expected, readByUs(document), () -> "of " + document);
            read += expected.isPresent() ? 1 : 0;
            refused += expected.isPresent() ? 0 : 1;
        }
        assertTrue(read > DOCUMENTS / 20, read + " were read");
        assertTrue(refused > DOCUMENTS / 10, refused + " were refused");
    }

    private String tamperedWith() {
        StringBuilder text = new StringBuilder(WHOLE.strip());
        for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
            int at = random.nextInt(text.length() + 1);
            int to = Math.min(text.length(), at + random.nextInt(12));
            switch (random.nextInt(4)) {
                case 0 -> text.insert(at, PIECES.get(random.nextInt(PIECES.size())));
                case 1 -> text.replace(at, to, PIECES.get(random.nextInt(PIECES.size())));
                case 2 -> text.delete(at, to);
                default -> text.insert(random.nextInt(text.length() + 1), text.substring(at, to));
            }
        }
        return text.toString();
    }

    private static Optional<Map<String, String>> readByUs(String document) {
        try {
            Credentials read = StsDocument.credentials(document.getBytes(StandardCharsets.UTF_8));
            Map<String, String> texts = new HashMap<>();
            put(texts, "AccessKeyId", read.accessKeyId());
            put(texts, "SecretAccessKey", read.secretAccessKey());
            put(texts, "SessionToken", read.sessionToken());
            return Optional.of(texts);
        } catch (SdkClientException e) {
            return Optional.empty();
        }
    }

    @SuppressWarnings("ConstantValue") // the SDK says nothing of nulls, and there are some
    private static void put(Map<String, String> texts, String name, String text) {
        if (text != null) {
            texts.put(CREDENTIALS + name, text);
        }
    }

    /** Nothing if it refuses the document, or if that says twice what is looked for. */
    private static Optional<Map<String, String>> readByAnother(String document) {
        try {
            Map<String, String> texts = new HashMap<>();
            Element root =
                    parser().parse(new InputSource(new StringReader(document)))
                            .getDocumentElement();
            boolean fine = collect(root, "", texts);
            texts.keySet().removeIf(path -> !path.startsWith(CREDENTIALS));
            return fine ? Optional.of(texts) : Optional.empty();
        } catch (SAXException | IOException e) {
            return Optional.empty();
        }
    }

    private static DocumentBuilder parser() {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultNSInstance();
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            DocumentBuilder parser = factory.newDocumentBuilder();
            parser.setErrorHandler(new Quiet());
            return parser;
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What would be printed is thrown. */
    private static final class Quiet implements ErrorHandler {
        @Override
        public void warning(SAXParseException fault) {
            // a warning changes nothing
        }

        @Override
        public void error(SAXParseException fault) throws SAXParseException {
            throw fault;
        }

        @Override
        public void fatalError(SAXParseException fault) throws SAXParseException {
            throw fault;
        }
    }

    /** Whether each text is there once, and no element in it. */
    private static boolean collect(Element element, String path, Map<String, String> texts) {
        boolean wanted = ONCE.contains(path);
        boolean fine = !wanted || texts.put(path, element.getTextContent()) == null;
        for (Node at = element.getFirstChild(); at != null; at = at.getNextSibling()) {
            if (at instanceof Element child) {
                fine &= collect(child, path + "/" + child.getLocalName(), texts) && !wanted;
            }
        }
        return fine;
    }
}
