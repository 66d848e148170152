package io.mintmark.broker.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.catalogue.PostgresCatalogue;
import io.mintmark.broker.token.LogBook;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.ssh.SshProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** The warning that housekeeping repeats each hour, of secrets that a mint can't use. */
class TenantSecretFaultsTest {
    private static final String SERVERS =
            "access provider 'servers' of tenant 'acme' can't be used: ";

    @TempDir Path secrets;

    private static String pem(String algorithm) throws GeneralSecurityException {
        byte[] key =
                KeyPairGenerator.getInstance(algorithm).generateKeyPair().getPrivate().getEncoded();
        return "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
                .formatted(Base64.getMimeEncoder().encodeToString(key));
    }

    private TenantSecretFaults faults(TestDatabase database) {
        var type =
                new SshProvider(
                        new SettingSecrets(new SecretFiles(Optional.of(secrets))),
                        InstantSource.system(),
                        new SecureRandom());
        return new TenantSecretFaults(
                new AccessProviders(List.of(type), InstantSource.system()),
                new PostgresCatalogue(database.closing(new Database(database.login(Who.APP)))));
    }

    @Test
    void each_is_warned_of_when_it_appears_and_again_when_it_comes_back()
            throws IOException, GeneralSecurityException {
        try (TestDatabase database = TestDatabase.migrated();
                LogBook book = LogBook.open()) {
            database.admin(
                    """
                    INSERT INTO broker.tenant (name) VALUES ('acme');
                    INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets, enabled)
                    VALUES ('acme', 'servers', 'ssh', '{"ca_key": {"file": "ssh-ca"}}', '{deploy}', true),
                           ('acme', 'disabled', 'ssh', '{"ca_key": {"file": "none"}}', '{deploy}', false);
                    """);
            TenantSecretFaults faults = faults(database);
            faults.report();
            faults.report();
            assertEquals(1, book.linesWith(SERVERS).size(), "once, while it stays");
            assertTrue(book.linesWith("access provider 'disabled'").isEmpty(), book::text);

            Path file = Files.createDirectories(secrets.resolve("acme")).resolve("ssh-ca");
            Files.writeString(file, pem("Ed25519"));
            faults.report();
            assertEquals(1, book.linesWith(SERVERS).size(), "a key that can be used");

            Files.writeString(file, pem("X25519"));
            faults.report();
            assertEquals(2, book.linesWith(SERVERS).size(), "a key that signs nothing");

            Files.delete(file);
            faults.report();
            faults.report();
            assertEquals(3, book.linesWith(SERVERS).size(), "another fault of the same row");
        }
    }
}
