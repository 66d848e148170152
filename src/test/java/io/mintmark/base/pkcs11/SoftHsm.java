package io.mintmark.base.pkcs11;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.mintmark.Unchecked;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A token of SoftHSM's, Debian's {@code softhsm2}, for the whole process, because the library reads
 * where its tokens are from the process's environment. OpenSC makes keys in it that can't be
 * extracted.
 */
public final class SoftHsm {
    public static final String TOKEN = "mintmark";
    private static final String PIN = "1234";
    private static final Path LIBRARY = Path.of("/usr/lib/softhsm/libsofthsm2.so");

    private static final SoftHsm ONLY = Unchecked.call(SoftHsm::new);

    private final Path folder;
    private final Path tokens;

    private SoftHsm() throws Exception {
        folder = Files.createTempDirectory("softhsm");
        tokens = Files.createDirectory(folder.resolve("tokens"));
        Files.writeString(
                folder.resolve("softhsm2.conf"),
                "directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n"
                        .formatted(tokens));
        Files.writeString(pinFile(), PIN + "\n");
        setEnvironment("SOFTHSM2_CONF", folder.resolve("softhsm2.conf").toString());
        run(
                "softhsm2-util",
                "--init-token",
                "--free",
                "--label",
                TOKEN,
                "--pin",
                PIN,
                "--so-pin",
                "4321");
    }

    /** The token. */
    public static SoftHsm token() {
        return ONLY;
    }

    /** The settings of a broker that uses it. */
    public Map<String, String> settings() {
        return Map.of("PKCS11_MODULE", LIBRARY.toString(), "PKCS11_PIN_FILE", pinFile().toString());
    }

    Path pinFile() {
        return folder.resolve("pin");
    }

    static Path library() {
        return LIBRARY;
    }

    /** Makes a P-256 key pair in it, and names it. */
    public String p256(String label) {
        return pair(label, "EC:prime256v1");
    }

    /** Makes an RSA key pair of 3072 bits in it, and names it. */
    public String rsa(String label) {
        return pair(label, "rsa:3072");
    }

    /** Makes an Ed25519 key pair in it, and names it. */
    public String ed25519(String label) {
        return pair(label, "EC:edwards25519");
    }

    String pair(String label, String type) {
        String id = "%08x".formatted(label.hashCode());
        run(tool("--keypairgen", "--key-type", type, "--label", label, "--id", id));
        return "pkcs11:token=%s;object=%s".formatted(TOKEN, label);
    }

    /** Deletes a key pair. */
    public void delete(String label) {
        run(tool("--delete-object", "--type", "privkey", "--label", label));
        run(tool("--delete-object", "--type", "pubkey", "--label", label));
    }

    /** A token that is away until this is closed. */
    @FunctionalInterface
    public interface Removed extends AutoCloseable {
        @Override
        void close();
    }

    /** Takes the token out; the result puts it back. */
    public Removed removed() {
        Path away = folder.resolve("away");
        Unchecked.call(() -> Files.move(tokens, away));
        Unchecked.call(() -> Files.createDirectory(tokens));
        return () ->
                Unchecked.call(() -> {
                    Files.delete(tokens);
                    return Files.move(away, tokens);
                });
    }

    private static String[] tool(String... arguments) {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "pkcs11-tool",
                                "--module",
                                LIBRARY.toString(),
                                "--token-label",
                                TOKEN,
                                "--login",
                                "--pin",
                                PIN));
        command.addAll(List.of(arguments));
        return command.toArray(String[]::new);
    }

    /** Runs commands of a page, which would ask a person for the PIN. */
    public void run(String block, Path directory) {
        run(
                "bash",
                "-ec",
                "cd '%s'\nexport PKCS11_MODULE='%s'\n%s"
                        .formatted(
                                directory,
                                LIBRARY,
                                block.replace("--login", "--login --pin " + PIN)));
    }

    private void run(String... command) {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("SOFTHSM2_CONF", folder.resolve("softhsm2.conf").toString());
        Unchecked.call(() -> {
            Process process = builder.start();
            String output =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException(List.of(command) + ": " + output);
            }
            return output;
        });
    }

    @SuppressWarnings("restricted") // tests are started with native access
    private static void setEnvironment(String name, String value) {
        Linker linker = Linker.nativeLinker();
        try (Arena arena = Arena.ofConfined()) {
            var setenv =
                    linker.downcallHandle(
                            linker.defaultLookup().find("setenv").orElseThrow(),
                            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
            var _ =
                    setenv.invokeWithArguments(
                            arena.allocateFrom(name), arena.allocateFrom(value), 1);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
