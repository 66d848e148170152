package io.mintmark.provider;

import io.mintmark.base.verdict.Verdict.Passed;
import io.mintmark.base.verdict.Verdict.Refused;
import io.mintmark.broker.token.RsaPairs;

import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequestBuilder;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;

/** Public keys and CSRs as a client of {@code POST /sign/{key}} sends them. */
public final class OfferedKeys {
    private OfferedKeys() {}

    /** Keys and CSRs of every kind, each with a few bytes changed, cut off or added. */
    public static List<String> malformed(int count, long seed) throws Exception {
        Random random = new Random(seed);
        List<byte[]> valid = new ArrayList<>();
        List<String> labels = new ArrayList<>();
        for (String[] kind :
                new String[][] {
                    {"Ed25519", "-"}, {"EC", "secp256r1"}, {"EC", "secp521r1"}, {"RSA", "3072"}
                }) {
            KeyPair pair = pair(kind[0], kind[1]);
            byte[] key = pair.getPublic().getEncoded();
            valid.addAll(List.of(key, request(pair, kind[0]), ssh(pem("PUBLIC KEY", key))));
            labels.addAll(List.of("PUBLIC KEY", "CERTIFICATE REQUEST", ""));
        }
        List<String> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int which = random.nextInt(valid.size());
            byte[] changed = changed(valid.get(which).clone(), random);
            made.add(
                    labels.get(which).isEmpty()
                            ? line(SshData.text(ByteBuffer.wrap(valid.get(which))), changed)
                            : pem(labels.get(which), changed));
        }
        return made;
    }

    private static byte[] ssh(String pem) {
        return switch (CallerKey.of(pem)) {
            case Passed<CallerKey>(CallerKey key) -> key.ssh();
            case Refused<CallerKey>(var refusal) -> throw new AssertionError(refusal);
        };
    }

    private static byte[] changed(byte[] bytes, Random random) {
        int changes = 1 + random.nextInt(3);
        for (int i = 0; i < changes; i++) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        return random.nextInt(4) > 0
                ? bytes
                : Arrays.copyOf(bytes, random.nextInt(2 * bytes.length));
    }

    static byte[] request(KeyPair pair, String algorithm) throws Exception {
        String signature =
                switch (algorithm) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    default -> algorithm;
                };
        return request(pair.getPublic(), pair.getPrivate(), signature);
    }

    /** A CSR for one key, signed by another or by the same. */
    static byte[] request(PublicKey key, PrivateKey signer, String signature) throws Exception {
        return new JcaPKCS10CertificationRequestBuilder(
                        new X500Name("CN=root,O=somebody else"), key)
                .build(new JcaContentSignerBuilder(signature).build(signer))
                .getEncoded();
    }

    static KeyPair pair(String algorithm, String parameter) throws Exception {
        if (algorithm.equals("RSA")) {
            return RsaPairs.next(Integer.parseInt(parameter));
        }
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        if (algorithm.equals("EC")) {
            generator.initialize(new ECGenParameterSpec(parameter));
        }
        return generator.generateKeyPair();
    }

    /** In the wire format of SSH (RFC 4251 section 5). */
    public static byte[] strings(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).array());
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    public static String line(String type, byte[] key) {
        return type + " " + Base64.getEncoder().encodeToString(key);
    }

    static String pem(String label, byte[] content) {
        return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
                .formatted(
                        label,
                        Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content));
    }
}
