package io.mintmark.endtoend;

import io.mintmark.Unchecked;
import io.mintmark.admin.cli.Commands;
import io.mintmark.broker.token.IssuerStandIn;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** What the tests of restore and failover do to a server: set it up, ask its broker, its log. */
final class ServedCluster {
    private static final String LOGINS =
            """
            CREATE ROLE test_owner LOGIN PASSWORD '%1$s' IN ROLE mintmark_owner;
            CREATE ROLE test_app LOGIN PASSWORD '%1$s' IN ROLE mintmark_app;
            CREATE ROLE test_auditor LOGIN PASSWORD '%1$s' IN ROLE mintmark_auditor;
            """
                    .formatted(OwnServer.PASSWORD);

    private ServedCluster() {}

    /** Makes the roles and logins. */
    static void prepare(PostgresCluster cluster) {
        Unchecked.run(() -> cluster.run(Files.readString(Path.of("db", "roles.sql"))));
        cluster.run(LOGINS);
    }

    /** A tenant whose subjects may mint the key "api". */
    static void tenant(PostgresCluster cluster, IssuerStandIn issuer, String... subjects) {
        cluster.run(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('ci', 'acme', '%s', '{mintmark-acme}');
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'own', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'api', 'own', 600, '{"audience": "https://api.example.com"}');
                """
                        .formatted(issuer.url()));
        for (String subject : subjects) {
            grant(cluster, subject);
        }
    }

    static void grant(PostgresCluster cluster, String subject) {
        cluster.run(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES ('acme', 'ci', '%s', 'api', 'OPS-1')
                """
                        .formatted(subject));
    }

    static int mint(RunningBroker broker, IssuerStandIn issuer, String subject) {
        return broker.mint(issuer.sign(subject, "mintmark-acme"), "api").status();
    }

    /** The exit status of a command and what it wrote, as one of the logins. */
    static Map.Entry<Integer, String> command(String url, String login, String... arguments) {
        Map<String, String> environment = new HashMap<>(RunningBroker.environment(url, 1));
        environment.put("DATABASE_USERNAME", login);
        PrintStream before = System.out;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setOut(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            int status = new Commands(environment, Path.of("")).execute(arguments);
            return Map.entry(status, written.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(before);
        }
    }
}
