package io.mintmark.provider.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.mintmark.base.outbound.Authority;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A service behind a private authority, which asks for the broker's certificate. */
class WebhookTlsTest {
    @AutoClose private final MintingBroker broker = MintingBroker.usual();
    private final Authority authority = new Authority();
    @TempDir Path files;
    private Path certificate;
    private Path key;

    @BeforeEach
    void files() throws Exception {
        certificate = files.resolve("broker.pem");
        key = files.resolve("broker.key");
        authority.write("broker.example", certificate, key);
        broker.secret("webhook.key", Files.readString(key));
    }

    private WebhookStandIn service(boolean wantsCertificate) throws Exception {
        return new WebhookStandIn(
                MintingBroker.ISSUER,
                broker.identity()::keySet,
                Optional.of(authority.server("localhost")),
                wantsCertificate);
    }

    @Test
    void its_authority_is_trusted() throws Exception {
        try (WebhookStandIn service = service(false)) {
            broker.minted(order(service, authority(authority)));
        }
    }

    @Test
    void no_other_authority_is_trusted() throws Exception {
        try (WebhookStandIn service = service(false)) {
            for (String other : List.of("", authority(new Authority()))) {
                broker.assertFailed(
                        Reason.PROVIDER_UNREACHABLE,
                        "failed TLS authentication",
                        order(service, other));
            }
            assertEquals(List.of(), service.calls());
        }
    }

    @Test
    void its_certificate_is_presented_to_mint_and_to_end() throws Exception {
        try (WebhookStandIn service = service(true)) {
            Orders order = order(service, authority(authority) + client());
            broker.minted(order);

            assertInstanceOf(LeaseRevocation.Gone.class, broker.end(order));
            assertEquals(Set.of(), service.live());
        }
    }

    @Test
    void without_it_or_with_another_authoritys_nothing_is_minted() throws Exception {
        try (WebhookStandIn service = service(true)) {
            broker.failed(order(service, authority(authority)));
            new Authority().write("broker.example", certificate, key);
            broker.secret("webhook.key", Files.readString(key));
            broker.failed(order(service, authority(authority) + client()));

            assertEquals(List.of(), service.calls());
        }
    }

    @Test
    void a_key_or_a_certificate_that_is_none_is_reported_and_not_quoted() throws Exception {
        try (WebhookStandIn service = service(true)) {
            Files.writeString(
                    certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
            Failed failed =
                    broker.assertFailed(
                            Reason.PROVIDER_MISCONFIGURED,
                            order(service, authority(authority) + client()));
            assertEquals(
                    "access provider setting 'client_certificate' must be certificates in PEM"
                            + " format",
                    failed.detail());

            broker.secret("webhook.key", "not-a-key-but-a-secret");
            failed = broker.failed(order(service, authority(authority) + client()));
            assertEquals(
                    "access provider setting 'client_key' refers to 'webhook.key', which contains"
                            + " no private key in PEM format",
                    failed.detail());
            assertEquals(List.of(), service.calls());
        }
    }

    @Test
    void every_kind_of_key_is_taken() throws Exception {
        try (WebhookStandIn service = service(false)) {
            broker.secret("webhook.key", KeyDirectory.pkcs8(KeyDirectory.ec("secp384r1")));

            broker.minted(order(service, authority(authority) + client()));
        }
    }

    private static String authority(Authority authority) throws Exception {
        return ",'ca_certificate':'%s'"
                .formatted(authority.pem().replace("\r", "").replace("\n", "\\n"));
    }

    private String client() throws Exception {
        return ",'client_key':{'file':'webhook.key'},'client_certificate':'%s'"
                .formatted(Files.readString(certificate).replace("\r", "").replace("\n", "\\n"));
    }

    private static Orders order(WebhookStandIn service, String further) {
        return Orders.of(
                "webhook",
                "{'endpoint':'%s','fields':['APP_USER','APP_PASSWORD']%s}"
                        .formatted(service.url(), further),
                "{'target':'registry/push'}");
    }
}
