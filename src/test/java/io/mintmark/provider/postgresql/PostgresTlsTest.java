package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Authority;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;

/** A server with TLS from a private authority, where the broker logs in by its certificate. */
class PostgresTlsTest {
    private static final String HBA =
            """
            host all postgres 127.0.0.1/32 trust
            hostssl all mintmark 127.0.0.1/32 cert map=broker
            hostssl all all 127.0.0.1/32 scram-sha-256
            """;

    @TempDir static Path files;
    private static final Authority AUTHORITY = new Authority();
    @AutoClose private static TargetServer server;

    @TempDir Path secrets;
    private Target target;

    @BeforeAll
    static void start() throws Exception {
        AUTHORITY.write("localhost", files.resolve("server.crt"), files.resolve("server.key"));
        AUTHORITY.write("mintmark", files.resolve("broker.crt"), files.resolve("broker.key"));
        Files.setPosixFilePermissions(
                files.resolve("server.key"), PosixFilePermissions.fromString("rw-------"));
        Files.writeString(files.resolve("ca.crt"), AUTHORITY.pem());
        server =
                TargetServer.start(
                        TargetServer.NEWEST,
                        Map.of(
                                "ssl", "on",
                                "ssl_cert_file", files.resolve("server.crt").toString(),
                                "ssl_key_file", files.resolve("server.key").toString(),
                                "ssl_ca_file", files.resolve("ca.crt").toString()),
                        HBA);
        Files.writeString(server.data().resolve("pg_ident.conf"), "broker \"a server\" mintmark\n");
        server.run("SELECT pg_reload_conf()");
    }

    @BeforeEach
    void keys() throws Exception {
        target = new Target(server.port(), secrets);
        Target.write(
                secrets.resolve("acme").resolve("broker.key"),
                Files.readString(files.resolve("broker.key")));
    }

    @AfterEach
    void clean() {
        server.clean();
    }

    private Orders order(String host, String ca, String proof) throws Exception {
        return Orders.of(
                "postgresql",
                "{'host': '%s:%d', 'database': 'postgres', 'login': 'mintmark', 'ca_certificate': '%s', %s}"
                        .formatted(host, server.port(), json(ca), proof),
                "{'role': 'app_rw'}");
    }

    private static String json(String pem) {
        return pem.replace("\r", "").replace("\n", "\\n");
    }

    private String certificate() throws Exception {
        return "'client_certificate': '%s', 'client_key': {'file': 'broker.key'}"
                .formatted(json(Files.readString(files.resolve("broker.crt"))));
    }

    @Test
    void the_broker_logs_in_by_its_certificate() throws Exception {
        Minted minted =
                assertInstanceOf(
                        Minted.class,
                        order("localhost", AUTHORITY.pem(), certificate()).mint(target.type()));

        assertEquals(
                Optional.of("verify-full"),
                Optional.ofNullable(minted.fields().get("SslMode")).map(Secret::reveal));
        server.assertRows("SELECT count(*) FROM pg_roles WHERE rolname ~ '^mm_'", "1");
    }

    @Test
    void a_name_that_is_not_in_the_certificate_is_not_trusted() throws Exception {
        MintingBroker.assertFailed(
                Reason.PROVIDER_UNREACHABLE,
                "failed TLS authentication",
                order("127.0.0.1", AUTHORITY.pem(), certificate()).mint(target.type()));
    }

    @Test
    void another_authority_is_not_trusted() throws Exception {
        MintingBroker.assertFailed(
                Reason.PROVIDER_UNREACHABLE,
                "failed TLS authentication",
                order("localhost", new Authority().pem(), certificate()).mint(target.type()));
    }

    @Test
    void a_password_where_a_certificate_is_wanted_is_the_brokers_identity() throws Exception {
        Failed failed =
                Target.failed(
                        order("localhost", AUTHORITY.pem(), "'password': {'file': 'password'}")
                                .mint(target.type()));

        assertEquals(Reason.BROKER_IDENTITY_REJECTED, failed.reason(), failed.detail());
    }

    @Test
    void a_server_without_tls_is_not_used() throws Exception {
        TargetServer plain = TargetServer.shared(TargetServer.NEWEST);
        Orders order = order("localhost", AUTHORITY.pem(), "'password': {'file': 'password'}");
        String settings = order.access().settings().toString();
        Orders other =
                Orders.of(
                        "postgresql",
                        settings.replace(":" + server.port(), ":" + plain.port()),
                        "{'role': 'app_rw'}");

        Failed failed = Target.failed(other.mint(target.type()));

        assertTrue(failed.detail().contains("was lost"), failed.detail());
        assertEquals(Reason.PROVIDER_UNREACHABLE, failed.reason());
    }
}
