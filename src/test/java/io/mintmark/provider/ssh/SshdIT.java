package io.mintmark.provider.ssh;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.tenant.MintId;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.ssh.Sshd.Ran;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** What a real sshd makes of the broker's certificates; see docs/providers/ssh.md. */
class SshdIT {
    @AutoClose private static MintingBroker broker;
    @AutoClose private static Sshd sshd;
    private static Path work;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        work = directory;
        broker = MintingBroker.usual();
        newCa("ed25519", "");
        sshd =
                new Sshd(
                        work,
                        Files.readString(work.resolve("made.pub")),
                        "RevokedKeys " + revoked());
    }

    private static Path revoked() throws Exception {
        Path revoked = work.resolve("revoked");
        if (Files.notExists(revoked)) {
            Files.createFile(revoked);
        }
        return revoked;
    }

    /** As the page tells an admin to. */
    private static void newCa(String type, String bits) throws Exception {
        Files.deleteIfExists(work.resolve("made"));
        Files.deleteIfExists(work.resolve("made.pub"));
        Process keygen =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                "ssh-keygen -q -t %s %s -N '' -C acme-ca -f %s"
                                        .formatted(type, bits, work.resolve("made")))
                        .inheritIO()
                        .start();
        assertEquals(0, keygen.waitFor());
        broker.secret("ca", Files.readString(work.resolve("made")));
    }

    @Test
    void a_certificate_lets_its_principal_in_and_the_log_names_the_mint() throws Exception {
        Minted minted = minted("'principals':['deploy']");

        Ran ran = login(minted);

        assertEquals("hello\n", ran.said());
        assertShows(
                sshd.log(),
                "ED25519-CERT %s ID mintmark:acme/deploy:%s (serial %s)"
                        .formatted(
                                minted.credentialId(),
                                Orders.MINT_ID,
                                MintingBroker.field(minted, "Serial")));
    }

    private static Minted minted(String settings) {
        return broker.minted(order(settings));
    }

    @Test
    void another_principal_does_not_get_in() throws Exception {
        refused(login(minted("'principals':['backup']")));
        refused(login(minted("'principals':['Deploy']")));
    }

    @Test
    void the_source_address_must_fit() throws Exception {
        assertEquals(
                0,
                login(
                                minted(
                                        "'principals':['deploy'],'source_address':['192.0.2.1','127.0.0.0/8']"))
                        .status());
        refused(login(minted("'principals':['deploy'],'source_address':['192.0.2.0/24']")));
        refused(login(minted("'principals':['deploy'],'source_address':['127.0.0.1/8']")));
    }

    @Test
    void a_forced_command_replaces_the_clients() throws Exception {
        Ran ran = login(minted("'principals':['deploy'],'force_command':'echo forced'"));

        assertEquals("forced\n", ran.said());
    }

    @Test
    void a_certificate_ends() throws Exception {
        Minted minted =
                broker.minted(order("'principals':['deploy']").lasting(Duration.ofSeconds(1)));
        Eventually.holds(() -> Instant.now().isAfter(minted.expiresAt()));

        refused(login(minted));
        assertShows(sshd.log(), "Certificate invalid: expired");
    }

    @Test
    void a_revoked_key_id_is_refused() throws Exception {
        Minted minted = minted("'principals':['deploy']");
        Path list = work.resolve("revoked.txt");
        Files.writeString(list, "id: " + MintingBroker.field(minted, "KeyId") + "\n");
        Ran keygen =
                sshd.run(
                        "ssh-keygen",
                        "-k",
                        "-f",
                        sshd.file("revoked"),
                        "-s",
                        sshd.file("ca.pub"),
                        list.toString());
        assertEquals(0, keygen.status(), keygen.said());
        try {
            refused(login(minted));
            assertShows(sshd.log(), "revoked by file");
        } finally {
            Files.write(work.resolve("revoked"), new byte[0]);
        }
    }

    /** As the page's cron line does. */
    @Test
    void a_certificate_on_the_brokers_list_is_refused_and_others_are_not() throws Exception {
        Minted minted = minted("'principals':['deploy']");
        MintId other = new MintId(UUID.fromString("01980f5e-8a00-7000-8000-0123456789ff"));
        try {
            for (List<MintId> ended : List.of(List.<MintId>of(), List.of(other))) {
                fetched(ended.toArray(MintId[]::new));
                assertEquals("hello\n", login(minted).said(), ended.toString());
            }
            fetched(other, Orders.MINT_ID);
            refused(login(minted));
            assertShows(sshd.log(), "revoked by file");
        } finally {
            Files.write(work.resolve("revoked"), new byte[0]);
        }
    }

    private static void fetched(MintId... ended) throws Exception {
        Files.write(work.resolve("revoked.new"), broker.revocationList("ssh", "{}", ended));
        Ran shown = sshd.run("ssh-keygen", "-Q", "-l", "-f", sshd.file("revoked.new"));
        assertEquals(0, shown.status(), shown.said());
        Files.move(
                work.resolve("revoked.new"),
                work.resolve("revoked"),
                StandardCopyOption.ATOMIC_MOVE);
    }

    /** As the page's section about rotation says. */
    @Test
    void while_both_cas_are_trusted_certificates_of_both_get_in() throws Exception {
        String oldKey = Files.readString(work.resolve("made"));
        String oldCa = Files.readString(work.resolve("ca.pub"));
        Minted before = minted("'principals':['deploy']");
        newCa("ecdsa", "-b 256");
        String newCa = Files.readString(work.resolve("made.pub"));
        try {
            Minted after = minted("'principals':['deploy']");
            refused(login(after));

            Files.writeString(work.resolve("ca.pub"), oldCa + newCa);
            assertEquals("hello\n", login(before).said());
            assertEquals("hello\n", login(after).said());

            Files.writeString(work.resolve("ca.pub"), newCa);
            refused(login(before));
            assertEquals("hello\n", login(after).said());
        } finally {
            Files.writeString(work.resolve("ca.pub"), oldCa);
            broker.secret("ca", oldKey);
            Files.writeString(work.resolve("made"), oldKey);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ed25519 ", "ecdsa -b 256", "ecdsa -b 384", "rsa -b 3072"})
    void ssh_keygen_reads_the_certificates_of_every_kind_of_ca(String kind) throws Exception {
        String[] words = kind.split(" ", 2);
        String before = Files.readString(work.resolve("made"));
        newCa(words[0], words[1]);
        Minted minted;
        try {
            minted = minted("'principals':['deploy'],'extensions':['permit-pty']");
        } finally {
            broker.secret("ca", before);
            Files.writeString(work.resolve("made"), before);
        }
        Files.writeString(
                work.resolve("shown-cert.pub"), MintingBroker.field(minted, "Certificate"));

        Ran shown = sshd.run("ssh-keygen", "-L", "-f", sshd.file("shown-cert.pub"));

        assertEquals(0, shown.status(), shown.said());
        assertShows(
                shown.said(), "Key ID: \"" + MintingBroker.field(minted, "KeyId"), "permit-pty");
    }

    private static Ran login(Minted minted) throws Exception {
        return sshd.login(
                MintingBroker.field(minted, "PrivateKey"),
                MintingBroker.field(minted, "Certificate"),
                "echo hello");
    }

    private static void refused(Ran ran) {
        assertEquals(255, ran.status(), ran.said());
        assertShows(ran.said(), "Permission denied (publickey)");
    }

    private static Orders order(String settings) {
        return Orders.of("ssh", "{'ca_key':{'file':'ca'}}", "{" + settings + "}");
    }
}
