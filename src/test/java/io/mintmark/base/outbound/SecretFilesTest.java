package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

class SecretFilesTest {
    @TempDir Path outside;

    private Path secrets;

    @BeforeEach
    void write() throws IOException {
        secrets = Files.createDirectory(outside.resolve("secrets"));
        write("acme/client-secret", "s3cret\n");
        write("acme/deeper/down", "d33p");
        write("globex/client-secret", "gl0bex");
        write("../elsewhere", "els3where");
    }

    @Test
    void a_reference_leads_to_a_file_of_its_tenant() throws Exception {
        assertEquals("s3cret", read("acme", "client-secret"));
        assertEquals("d33p", read("acme", "deeper/down"));
        assertEquals("gl0bex", read("globex", "client-secret"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"s", "s\n", "s\r\n"})
    void one_line_break_at_the_end_is_left_out(String content) throws Exception {
        write("acme/x", content);

        assertEquals("s", read("acme", "x"));
    }

    @Test
    void everything_else_is_the_secret() throws Exception {
        write("acme/x", " ä b\n\nc \n\n");

        assertEquals(" ä b\n\nc \n", read("acme", "x"));
    }

    @Test
    void a_file_that_changes_counts_at_once() throws Exception {
        assertEquals("s3cret", read("acme", "client-secret"));

        write("acme/client-secret", "n3w");

        assertEquals("n3w", read("acme", "client-secret"));
    }

    @Test
    void a_secret_that_kubernetes_mounts_is_read_and_read_anew_when_it_is_swapped()
            throws Exception {
        Path volume = Files.createDirectory(secrets.resolve("k8s"));
        version(volume, "..2026_01_01", "0ld");
        Files.createSymbolicLink(volume.resolve("client-secret"), Path.of("..data/client-secret"));
        assertEquals("0ld", read("k8s", "client-secret"));

        version(volume, "..2026_01_02", "n3w");

        assertEquals("n3w", read("k8s", "client-secret"));
    }

    @Test
    void one_volume_may_hold_the_directories_of_all_tenants() throws Exception {
        write("..2026_01_01/initech/client-secret", "1nitech");
        Files.createSymbolicLink(secrets.resolve("..data"), Path.of("..2026_01_01"));
        Files.createSymbolicLink(secrets.resolve("initech"), Path.of("..data/initech"));

        assertEquals("1nitech", read("initech", "client-secret"));
    }

    @Test
    void a_link_within_the_tenants_directory_is_followed() throws Exception {
        Files.createSymbolicLink(secrets.resolve("acme/link"), Path.of("deeper/down"));

        assertEquals("d33p", read("acme", "link"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../globex/client-secret", "../../elsewhere", "ABSOLUTE/elsewhere",
                "deeper/out", "..", "../.."
            })
    void a_link_that_leads_out_is_not_followed(String target) throws Exception {
        Files.createSymbolicLink(secrets.resolve("acme/deeper/out"), Path.of("../../globex"));
        Files.createSymbolicLink(
                secrets.resolve("acme/link"),
                Path.of(target.replace("ABSOLUTE", outside.toAbsolutePath().toString())));

        String name = target.equals("deeper/out") ? "deeper/out/client-secret" : "link";

        assertEquals(
                "refers to SECRETS_DIR/acme/%s, a symbolic link to a file outside the tenant's secrets directory"
                        .formatted(name),
                refused("acme", name));
    }

    @Test
    void a_tenants_directory_is_not_another_tenants() throws Exception {
        Files.createSymbolicLink(secrets.resolve("initech"), Path.of("globex"));
        Files.createSymbolicLink(secrets.resolve("hooli"), outside);

        assertTrue(refused("initech", "client-secret").contains("a file outside the tenant's"));
        assertTrue(refused("hooli", "elsewhere").contains("a file outside the tenant's"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "..", "../globex/client-secret", "deeper/../client-secret",
                "./client-secret", "/etc/passwd", "deeper//down",
                "deeper/", ".hidden", "..data/client-secret",
                "", " ", "client secret",
                "client-secret\n", "client-secret\u0000", "client\\secret",
                "%2e%2e/globex"
            })
    void a_name_that_is_no_plain_path_is_refused(String name) {
        assertEquals(
                "must name a file in the tenant's secrets directory, without . or .. in its path",
                refused("acme", name));
    }

    @ParameterizedTest
    @ValueSource(strings = {"..", ".", "", "acme/../globex", "Acme", "/etc"})
    void a_tenant_is_no_path(String tenant) {
        assertTrue(refused(tenant, "client-secret").startsWith("must name a file"));
    }

    @Test
    void a_file_that_is_missing_is_told_with_what_to_do() {
        assertEquals(
                "refers to SECRETS_DIR/acme/nothing, which doesn't exist: write the secret "
                        + "to that file",
                refused("acme", "nothing"));
        assertTrue(refused("nobody", "client-secret").contains("doesn't exist"));
    }

    @Test
    void without_a_directory_every_reference_says_so() {
        SecretFiles none = new SecretFiles(Optional.empty());

        assertEquals(
                "refers to SECRETS_DIR/acme/client-secret, but SECRETS_DIR is not set",
                assertThrows(
                                UnusableSecretException.class,
                                () -> none.read("acme", "client-secret"))
                        .getMessage());
    }

    @Test
    void a_directory_is_no_secret() {
        assertEquals(
                "refers to SECRETS_DIR/acme/deeper, which is not a regular file",
                refused("acme", "deeper"));
    }

    @Test
    void a_pipe_is_not_waited_for() throws Exception {
        Path pipe = secrets.resolve("acme/pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());

        assertEquals(
                "refers to SECRETS_DIR/acme/pipe, which is not a regular file",
                refused("acme", "pipe"));
    }

    @Test
    void a_file_that_is_too_large_is_refused_and_the_largest_is_read() throws Exception {
        write("acme/largest", "x".repeat(16 * 1024));
        write("acme/larger", "x".repeat(16 * 1024 + 1));

        assertEquals(16 * 1024, read("acme", "largest").length());
        assertTrue(refused("acme", "larger").endsWith("which is larger than 16384 bytes"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "\r\n", " \n"})
    void an_empty_file_is_no_secret(String content) throws Exception {
        write("acme/x", content);

        assertTrue(refused("acme", "x").contains("which is empty"));
    }

    @Test
    void what_is_no_text_is_refused_unquoted() throws Exception {
        Files.write(secrets.resolve("acme/x"), new byte[] {'s', '3', (byte) 0xff});

        String told = refused("acme", "x");

        assertEquals("refers to SECRETS_DIR/acme/x, which isn't UTF-8 text", told);
    }

    @Test
    void a_file_behind_a_file_or_in_a_circle_can_not_be_read() throws Exception {
        Files.createSymbolicLink(secrets.resolve("acme/circle"), Path.of("circle"));

        assertTrue(refused("acme", "client-secret/x").contains("SECRETS_DIR/acme/client-secret/x"));
        assertTrue(
                refused("acme", "circle")
                        .endsWith("which the broker can't read: give it read permission"));
    }

    @Test
    void a_secret_does_not_print() throws Exception {
        assertFalse(
                new SecretFiles(Optional.of(secrets))
                        .read("acme", "client-secret")
                        .toString()
                        .contains("s3cret"));
    }

    private String read(String tenant, String name) throws UnusableSecretException {
        return new SecretFiles(Optional.of(secrets)).read(tenant, name).reveal();
    }

    private String refused(String tenant, String name) {
        return assertThrows(UnusableSecretException.class, () -> read(tenant, name)).getMessage();
    }

    private void write(String file, String content) throws IOException {
        Path path = secrets.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content);
    }

    /** As the kubelet's atomic writer does it: a new directory, and the link is renamed to it. */
    private static void version(Path volume, String name, String secret) throws IOException {
        Path version = Files.createDirectory(volume.resolve(name));
        Files.writeString(version.resolve("client-secret"), secret);
        Path link = volume.resolve("..data_tmp");
        Files.createSymbolicLink(link, Path.of(name));
        Files.move(link, volume.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
    }
}
