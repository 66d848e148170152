package io.mintmark.provider.ssh;

import io.mintmark.base.tenant.MintId;
import io.mintmark.provider.SshData;

import java.time.Instant;
import java.util.List;

/**
 * A key revocation list (PROTOCOL.krl of OpenSSH). It has serial numbers alone, for whichever CA
 * signed: servers refuse the certificates, and strangers read no name.
 */
final class RevocationList {
    private static final long MAGIC = 0x5353484b524c0a00L;
    private static final int FORMAT = 1;
    private static final byte[] CERTIFICATES = {1};
    private static final byte[] SERIALS = {0x20};

    private RevocationList() {}

    /** The serial number of a mint's certificate; never zero, which stands for none. */
    static long serial(MintId mint) {
        return mint.value().getLeastSignificantBits();
    }

    /**
     * @param now of which the list's version is made; later lists have higher ones
     * @param dated when the list says that it was made
     */
    static byte[] of(List<MintId> ended, Instant now, Instant dated) {
        SshData list =
                new SshData()
                        .uint64(MAGIC)
                        .uint32(FORMAT)
                        .uint64(now.toEpochMilli())
                        .uint64(dated.getEpochSecond())
                        .uint64(0)
                        .string("")
                        .string("");
        if (!ended.isEmpty()) {
            list.raw(CERTIFICATES).string(certificates(ended));
        }
        return list.bytes();
    }

    private static byte[] certificates(List<MintId> ended) {
        SshData serials = new SshData();
        ended.forEach(mint -> serials.uint64(serial(mint)));
        String anyAuthority = "";
        return new SshData()
                .string(anyAuthority)
                .string("")
                .raw(SERIALS)
                .string(serials.bytes())
                .bytes();
    }
}
