package io.mintmark.base.outbound;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.outbound.OutboundFailure.Kind;

import org.apache.hc.core5.http.ClassicHttpResponse;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.time.Duration;
import java.util.function.Function;

/**
 * Reads the bodies of answers and has them parsed. Only a few long ones are in memory at a time,
 * and only one of each owner.
 */
final class DocumentReader {
    /** The first bytes of a body, which need no permit; nearly all documents are shorter. */
    private static final int SHORT = 64 << 10;

    /**
     * The number of concurrent readers, one for each 64 MiB of heap: parsing a document of 1 MiB
     * takes up to six times that.
     */
    private static final int AT_A_TIME = Math.clamp(Runtime.getRuntime().maxMemory() >> 26, 2, 32);

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final SharedPermits<String> longOnes = new SharedPermits<>(AT_A_TIME, 1);

    /**
     * What a parser makes of a body.
     *
     * @param owner a tenant's name, or empty for the broker itself
     */
    <T> T read(
            String host,
            String owner,
            ClassicHttpResponse answer,
            int most,
            Function<byte[], T> parser)
            throws IOException {
        InputStream content = content(answer);
        byte[] start = content.readNBytes(SHORT);
        if (start.length < SHORT) {
            return parser.apply(whole(host, start, most));
        }
        try (Permit _ = permit(host, owner)) {
            var all = new SequenceInputStream(new ByteArrayInputStream(start), content);
            return parser.apply(whole(host, all.readNBytes(most + 1), most));
        }
    }

    private Permit permit(String host, String owner) throws OutboundFailure {
        return longOnes.acquire(owner, TIMEOUT)
                .orElseThrow(() ->
                        OutboundFailure.busy(
                                "too many documents over %d bytes are being read, so the document of %s was not read"
                                        .formatted(SHORT, host)));
    }

    /** Reads a whole body. It takes no permit, so it is for services whose responses are short. */
    static byte[] body(String host, ClassicHttpResponse answer, int most) throws IOException {
        return whole(host, content(answer).readNBytes(most + 1), most);
    }

    private static InputStream content(ClassicHttpResponse answer) throws IOException {
        return answer.getEntity() == null
                ? InputStream.nullInputStream()
                : answer.getEntity().getContent();
    }

    private static byte[] whole(String host, byte[] body, int most) throws OutboundFailure {
        if (body.length > most) {
            throw new OutboundFailure(
                    Kind.TOO_LARGE, host + " answered with over " + most + " bytes");
        }
        return body;
    }
}
