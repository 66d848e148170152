package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The commands of docs/run/rotate-keys.md for a stolen signing key, as root, and what happens if
 * one of them is left out. {@link EmergencyPagesTest} runs the others.
 */
@Tag("heavy")
class StolenSigningKeyTest {
    private static final List<String> BLOCKS = Documented.blocks("run/rotate-keys.md", "sh");
    private static final String REPLACE = BLOCKS.get(0);
    private static final String PROVE = BLOCKS.get(1);
    private static final String ADD = BLOCKS.get(2);

    @TempDir private Path directory;
    @AutoClose private RootInstallation installation;

    @BeforeEach
    void install() throws IOException {
        installation = new RootInstallation(directory, Map.of());
        installation.start();
    }

    private int run(String block) {
        return installation.run(block);
    }

    private void succeeds(String block) {
        installation.succeeds(block);
    }

    private String said() {
        return installation.said();
    }

    @Test
    void the_stolen_key_is_out_of_use_within_ten_seconds_and_the_page_proves_it() {
        assertEquals(1, run(REPLACE.replace("chown", ": chown") + "\nsleep 7\n" + PROVE));
        assertTrue(said().contains("still uses another key"), this::said);

        succeeds(REPLACE);
        Eventually.holds(() -> run(PROVE) == 0);
        assertEquals(2, said().lines().filter(line -> line.contains("new key alone")).count());
    }

    @Test
    void a_new_key_that_the_service_can_not_read_is_seen_everywhere() throws IOException {
        succeeds(
                "cd etc/signing-keys; rm *.pem; openssl genpkey -algorithm EC -pkeyopt"
                        + " ec_paramgen_curve:P-256 -out \"$(date -u +%F).pem\"");
        int port = installation.ports().getFirst();
        String metrics =
                "http://127.0.0.1:%d/observe/metrics".formatted(installation.adminPort(port));
        Eventually.holds(() ->
                run("curl -fsS -H 'Accept: %s' %s".formatted(RefusedFiles.FORMAT, metrics)) == 0
                        && RefusedFiles.isShown(said(), "BROKER_SIGNING_KEYS_DIR", 1));
        assertTrue(
                Files.readString(installation.log(port))
                        .contains("can't be read by the user that runs this program"),
                () -> Unchecked.call(() -> Files.readString(installation.log(port))));

        BrokerProcess check = new BrokerProcess(installation.settings(port), directory, "check");
        assertEquals(0, check.status(), () -> check.printed().toString());
        Eventually.holds(() ->
                check.printed().stream()
                        .anyMatch(line ->
                                line.startsWith("note  keys: the running broker")
                                        && line.contains("BROKER_SIGNING_KEYS_DIR")));
    }

    @Test
    void a_key_that_is_added_is_published_by_both_beside_the_old_one() {
        succeeds(ADD.replace("2026-08-02", "2099-08-02"));
        Eventually.holds(() -> run(BLOCKS.get(3)) == 0 && said().lines().count() == 4);
    }
}
