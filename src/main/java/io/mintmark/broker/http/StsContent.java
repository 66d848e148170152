package io.mintmark.broker.http;

import com.ctc.wstx.stax.WstxOutputFactory;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.time.Timestamps;
import io.mintmark.broker.exchange.Credentials;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.Map;

import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** Writes the XML of AWS STS's query protocol, version 2011-06-15. */
final class StsContent {
    private static final String NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";
    private static final Header TYPE =
            HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "text/xml");

    /** Safe for all threads: nothing configures it further. */
    private static final XMLOutputFactory FACTORY = new WstxOutputFactory();

    private StsContent() {}

    /** The elements inside the root. */
    private interface Elements {
        void write(XMLStreamWriter xml) throws XMLStreamException;
    }

    static Content error(StsError error, String requestId) {
        return document(
                "ErrorResponse",
                xml -> {
                    xml.writeStartElement("Error");
                    element(xml, "Type", error.type());
                    element(xml, "Code", error.code());
                    element(
                            xml,
                            "Message",
                            "%s (request %s)".formatted(error.message(), requestId));
                    xml.writeEndElement();
                    element(xml, "RequestId", requestId);
                });
    }

    /**
     * A success.
     *
     * @param credentials of one key, with the members {@code AccessKeyId}, {@code SecretAccessKey}
     *     and {@code SessionToken}
     */
    static Content credentials(Credentials credentials, String requestId) {
        Map<String, Secret> members = credentials.byKey().values().iterator().next();
        return document(
                StsForm.ACTION + "Response",
                xml -> {
                    xml.writeStartElement(StsForm.ACTION + "Result");
                    element(xml, "SubjectFromWebIdentityToken", credentials.subject());
                    xml.writeStartElement("Credentials");
                    for (var member : members.entrySet()) {
                        element(xml, member.getKey(), member.getValue().reveal());
                    }
                    element(
                            xml,
                            "Expiration",
                            Timestamps.text(
                                    credentials.expiresAt().truncatedTo(ChronoUnit.SECONDS)));
                    xml.writeEndElement();
                    xml.writeEndElement();
                    xml.writeStartElement("ResponseMetadata");
                    element(xml, "RequestId", requestId);
                    xml.writeEndElement();
                });
    }

    private static Content document(String root, Elements elements) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            XMLStreamWriter xml = FACTORY.createXMLStreamWriter(out, StandardCharsets.UTF_8.name());
            xml.writeStartElement(root);
            xml.writeDefaultNamespace(NAMESPACE);
            elements.write(xml);
            xml.writeEndElement();
            xml.close();
        } catch (XMLStreamException e) {
            throw new IllegalStateException("the response can't be written as XML", e);
        }
        return new Content(TYPE, out.toByteArray());
    }

    private static void element(XMLStreamWriter xml, String name, String text)
            throws XMLStreamException {
        xml.writeStartElement(name);
        xml.writeCharacters(printable(text));
        xml.writeEndElement();
    }

    /** The text without control characters and what XML 1.0 can't express. */
    private static String printable(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints()
                .map(character -> isPrintable(character) ? character : '?')
                .forEach(printable::appendCodePoint);
        return printable.toString();
    }

    private static boolean isPrintable(int character) {
        return !Character.isISOControl(character)
                && Character.getType(character) != Character.SURROGATE
                && character != 0xFFFE
                && character != 0xFFFF;
    }
}
