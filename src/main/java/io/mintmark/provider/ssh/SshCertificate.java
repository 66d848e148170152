package io.mintmark.provider.ssh;

import io.mintmark.provider.CaKey;
import io.mintmark.provider.SshData;

import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.ASN1Sequence;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * A user certificate to be signed (PROTOCOL.certkeys of OpenSSH).
 *
 * @param principals at least one: a certificate without any is valid for every user
 * @param options critical options with their values
 */
record SshCertificate(
        long serial,
        String keyId,
        List<String> principals,
        Instant validAfter,
        Instant validBefore,
        SortedMap<String, String> options,
        SortedSet<String> extensions) {
    private static final int USER = 1;
    private static final String VENDOR = "@openssh.com";

    SshCertificate {
        if (principals.isEmpty()) {
            throw new IllegalArgumentException("a certificate must have at least one principal");
        }
    }

    /**
     * The certificate of a key, as a line of a file.
     *
     * @param key in the wire format of RFC 4253 section 6.6, or PROTOCOL.u2f of OpenSSH
     */
    String of(byte[] key, byte[] nonce, CaKey ca) {
        ByteBuffer parts = ByteBuffer.wrap(key);
        String keyType = SshData.text(parts);
        String type = keyType.replace(VENDOR, "") + "-cert-v01" + VENDOR;
        byte[] content =
                new SshData()
                        .string(type)
                        .string(nonce)
                        .raw(Arrays.copyOfRange(key, parts.position(), key.length))
                        .uint64(serial)
                        .uint32(USER)
                        .string(keyId)
                        .string(allPrincipals())
                        .uint64(validAfter.getEpochSecond())
                        .uint64(validBefore.getEpochSecond())
                        .string(allOptions())
                        .string(allExtensions())
                        .string("")
                        .string(ca.ssh())
                        .bytes();
        byte[] signed = new SshData().raw(content).string(signature(content, ca)).bytes();
        return "%s %s %s".formatted(type, Base64.getEncoder().encodeToString(signed), keyId);
    }

    private byte[] allPrincipals() {
        SshData list = new SshData();
        principals.forEach(list::string);
        return list.bytes();
    }

    private byte[] allOptions() {
        SshData list = new SshData();
        options.forEach(
                (name, value) -> list.string(name).string(new SshData().string(value).bytes()));
        return list.bytes();
    }

    private byte[] allExtensions() {
        SshData list = new SshData();
        extensions.forEach(name -> list.string(name).string(""));
        return list.bytes();
    }

    /** RFC 8709 section 6, RFC 5656 section 3.1.2, RFC 8332 section 3. */
    private static byte[] signature(byte[] content, CaKey ca) {
        byte[] made = ca.sign(content);
        return switch (ca.algorithm()) {
            case "Ed25519" -> new SshData().string("ssh-ed25519").string(made).bytes();
            case "SHA256withECDSA" -> ecdsa("ecdsa-sha2-nistp256", made);
            case "SHA384withECDSA" -> ecdsa("ecdsa-sha2-nistp384", made);
            case "SHA512withRSA" -> new SshData().string("rsa-sha2-512").string(made).bytes();
            case String other -> throw new IllegalStateException(other);
        };
    }

    private static byte[] ecdsa(String name, byte[] der) {
        SshData numbers = new SshData();
        ASN1Sequence.getInstance(der)
                .forEach(number -> numbers.mpint(ASN1Integer.getInstance(number).getValue()));
        return new SshData().string(name).string(numbers.bytes()).bytes();
    }
}
