package io.mintmark.provider.sts;

import com.ctc.wstx.api.WstxInputProperties;
import com.ctc.wstx.stax.WstxInputFactory;

import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.Header;
import org.codehaus.stax2.XMLInputFactory2;
import org.jspecify.annotations.Nullable;

import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sts.model.Credentials;
import software.amazon.awssdk.services.sts.model.StsException;
import software.amazon.awssdk.utils.DateUtils;

import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * The texts of an STS's answer by where they stand below its root: {@code /Error/Code}. An answer
 * that has a document type, has one of them twice or with elements in it, or has elements in
 * elements without end isn't read; nothing is fetched and nothing expanded.
 */
final class StsDocument {
    private static final String CREDENTIALS = "/AssumeRoleWithWebIdentityResult/Credentials/";
    private static final String KEY_ID = CREDENTIALS + "AccessKeyId";
    private static final String KEY = CREDENTIALS + "SecretAccessKey";
    private static final String TOKEN = CREDENTIALS + "SessionToken";
    private static final String EXPIRATION = CREDENTIALS + "Expiration";
    private static final String CODE = "/Error/Code";
    private static final String MESSAGE = "/Error/Message";
    private static final String REQUEST_ID = "/RequestId";
    private static final Set<String> WANTED =
            Set.of(KEY_ID, KEY, TOKEN, EXPIRATION, CODE, MESSAGE, REQUEST_ID);
    private static final List<String> REQUEST_ID_HEADERS =
            List.of("x-amzn-RequestId", "x-amz-request-id");
    private static final int DEEPEST = 16;

    /** The factory, which is thread-safe because its configuration doesn't change. */
    private static final XMLInputFactory FACTORY = factory();

    private final Map<String, String> texts = new HashMap<>();

    private StsDocument() {}

    private static XMLInputFactory factory() {
        XMLInputFactory factory = new WstxInputFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(WstxInputProperties.P_MAX_ELEMENT_DEPTH, DEEPEST);
        // lazy parsing would throw an unchecked exception for malformed text
        factory.setProperty(XMLInputFactory2.P_LAZY_PARSING, false);
        // interned names of untrusted elements would fill a table of the JVM's
        factory.setProperty(XMLInputFactory2.P_INTERN_NAMES, false);
        factory.setProperty(XMLInputFactory2.P_INTERN_NS_URIS, false);
        return factory;
    }

    /**
     * The credentials of an answer, whole or not.
     *
     * @throws SdkClientException if it can't be read
     */
    static Credentials credentials(byte[] body) {
        try {
            StsDocument read = read(body);
            Credentials.Builder credentials =
                    Credentials.builder()
                            .accessKeyId(read.text(KEY_ID))
                            .secretAccessKey(read.text(KEY))
                            .sessionToken(read.text(TOKEN));
            String expiration = read.text(EXPIRATION);
            if (expiration != null) {
                credentials.expiration(DateUtils.parseIso8601Date(expiration));
            }
            return credentials.build();
        } catch (XMLStreamException | DateTimeException e) {
            throw SdkClientException.create("the response can't be read", e);
        }
    }

    /**
     * The error of an STS, as far as it can be read.
     *
     * @param body freed of what was sent
     */
    static AwsServiceException refusal(ClassicHttpResponse answer, byte[] body) {
        StsDocument read;
        try {
            read = read(body);
        } catch (XMLStreamException e) {
            read = new StsDocument();
        }
        String id = read.text(REQUEST_ID);
        return StsException.builder()
                .statusCode(answer.getCode())
                .requestId(id == null ? requestId(answer) : id)
                .awsErrorDetails(
                        AwsErrorDetails.builder()
                                .errorCode(read.text(CODE))
                                .errorMessage(read.text(MESSAGE))
                                .build())
                .build();
    }

    private static @Nullable String requestId(ClassicHttpResponse answer) {
        return REQUEST_ID_HEADERS.stream()
                .map(answer::getFirstHeader)
                .filter(Objects::nonNull)
                .map(Header::getValue)
                .findFirst()
                .orElse(null);
    }

    private @Nullable String text(String path) {
        return texts.get(path);
    }

    /** Parses a response. Without a body, it has no elements. */
    private static StsDocument read(byte[] body) throws XMLStreamException {
        StsDocument document = new StsDocument();
        if (body.length > 0) {
            XMLStreamReader reader = FACTORY.createXMLStreamReader(new StringReader(text(body)));
            try {
                document.read(reader);
            } finally {
                reader.close();
            }
        }
        return document;
    }

    /** Decodes UTF-8, whatever encoding the document declares. */
    private static String text(byte[] body) throws XMLStreamException {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
        } catch (CharacterCodingException e) {
            throw new XMLStreamException("not UTF-8", e);
        }
    }

    private void read(XMLStreamReader reader) throws XMLStreamException {
        Deque<String> paths = new ArrayDeque<>();
        while (reader.hasNext()) {
            switch (reader.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    String path = paths.isEmpty() ? "" : paths.peek() + "/" + reader.getLocalName();
                    if (!WANTED.contains(path)) {
                        paths.push(path);
                    } else if (texts.put(path, reader.getElementText()) != null) {
                        throw new XMLStreamException("the response has an element twice");
                    }
                }
                case XMLStreamConstants.END_ELEMENT -> paths.pop();
                case XMLStreamConstants.DTD, XMLStreamConstants.ENTITY_REFERENCE ->
                        throw new XMLStreamException(
                                "the response has a document type declaration");
                default -> {
                    // comments and the like say nothing
                }
            }
        }
    }
}
