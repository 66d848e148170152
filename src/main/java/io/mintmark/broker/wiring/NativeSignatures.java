package io.mintmark.broker.wiring;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Provider;
import java.security.Security;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Puts the signatures of Amazon Corretto Crypto Provider, and the keys that they are fastest with,
 * before the JDK's, for the whole process. Nothing else of it is used: digests, random numbers and
 * TLS's ciphers stay the JDK's. Where its native part doesn't load, everything stays as it is.
 */
final class NativeSignatures {
    private static final String PROVIDER =
            "com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider";
    private static final String LIBRARY =
            "com/amazon/corretto/crypto/provider/libamazonCorrettoCryptoProvider.so";

    /** The name of the security provider. */
    static final String NAME = "NativeSignatures";

    private static final Set<String> TYPES = Set.of("Signature", "KeyFactory");

    private NativeSignatures() {}

    /** Why the native code can't be used: the end of a sentence about it. */
    static final class UnusableException extends Exception {
        private static final long serialVersionUID = 1L;

        private UnusableException(String why, @Nullable Throwable cause) {
            super(why, cause);
        }
    }

    /**
     * Loads the provider and puts it first, after it has verified a valid signature and rejected an
     * invalid one. Takes 0.1 to 0.2 seconds, mostly for native initialization.
     *
     * @return its name, for people
     */
    static synchronized String install() throws UnusableException {
        Provider present = Security.getProvider(NAME);
        return (present == null ? loaded() : present).getInfo();
    }

    private static Provider loaded() throws UnusableException {
        try {
            String machine = machine(System.getProperty("os.name"), System.getProperty("os.arch"));
            Provider signatures = new SignaturesOnly(load(library(machine)));
            prove(signatures);
            Security.insertProviderAt(signatures, 1);
            return signatures;
        } catch (IOException | GeneralSecurityException | LinkageError e) {
            throw new UnusableException("the library can't be used: " + e, e);
        }
    }

    /** The jar for a machine, of those on the class path, which hold the same names. */
    static URL library(String machine) throws IOException, UnusableException {
        List<URL> found =
                Collections.list(NativeSignatures.class.getClassLoader().getResources(LIBRARY));
        for (URL each : found) {
            if (each.openConnection() instanceof JarURLConnection jar
                    && jar.getJarFileURL()
                            .getPath()
                            .endsWith(machine.toLowerCase(Locale.ROOT) + ".jar")) {
                return jar.getJarFileURL();
            }
        }
        throw new UnusableException("the library has no build for " + machine, null);
    }

    /** The machine's name in the classifiers of the provider's jars. */
    static String machine(String system, String architecture) {
        return switch (architecture) {
            case "amd64" -> system + "-x86_64";
            case "aarch64" -> system + "-aarch_64";
            default -> system + "-" + architecture;
        };
    }

    /**
     * Loads it in a class loader of its own, because the jar for the other architecture has a
     * library of the same name. The loader stays open, since the provider is used until the end.
     */
    private static Provider load(URL jar) throws GeneralSecurityException, UnusableException {
        var loader = new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
        try {
            Class<?> type = Class.forName(PROVIDER, true, loader);
            Provider provider = (Provider) type.getField("INSTANCE").get(null);
            Throwable error = (Throwable) type.getMethod("getLoadingError").invoke(provider);
            if (error != null) {
                throw new UnusableException("the native library can't be loaded: " + error, error);
            }
            return provider;
        } catch (ReflectiveOperationException e) {
            throw new GeneralSecurityException("unknown format of " + PROVIDER, e);
        }
    }

    /** RFC 7515, appendix A.3: accepted as published, rejected for another text. */
    private static void prove(Provider provider) throws GeneralSecurityException {
        if (!verifies(provider, Known.TEXT) || verifies(provider, Known.TEXT + "x")) {
            throw new GeneralSecurityException(
                    "the library doesn't verify the example signature of RFC 7515 correctly");
        }
    }

    private static boolean verifies(Provider provider, String text)
            throws GeneralSecurityException {
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format", provider);
        signature.initVerify(
                KeyFactory.getInstance("EC", provider)
                        .generatePublic(new X509EncodedKeySpec(decode(Known.KEY))));
        signature.update(text.getBytes(StandardCharsets.US_ASCII));
        return signature.verify(decode(Known.SIGNATURE));
    }

    private static byte[] decode(String base64) {
        return Base64.getUrlDecoder().decode(base64);
    }

    /** A signed text and its key, from RFC 7515, appendix A.3. */
    private static final class Known {
        static final String TEXT =
                "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9l"
                        + "eGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        static final String SIGNATURE =
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6"
                        + "NU1Q";

        /** The JWK's x and y behind what X.509 writes before a point on P-256 (RFC 5480). */
        static final String KEY =
                "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8U"
                        + "TNG72bfocs3-257rn0s2ldbqkLJK2KRiMohYjlrQ";
    }

    /** The signature algorithms of the provider, without its other services. */
    private static final class SignaturesOnly extends Provider {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial") // never serialized
        private final Provider all;

        SignaturesOnly(Provider all) {
            super(NAME, all.getVersionStr(), "%s %s".formatted(all.getName(), all.getVersionStr()));
            this.all = all;
        }

        @Override
        public @Nullable Service getService(String type, String algorithm) {
            return TYPES.contains(type) ? all.getService(type, algorithm) : null;
        }

        @Override
        public Set<Service> getServices() {
            return all.getServices().stream()
                    .filter(service -> TYPES.contains(service.getType()))
                    .collect(Collectors.toSet());
        }
    }
}
