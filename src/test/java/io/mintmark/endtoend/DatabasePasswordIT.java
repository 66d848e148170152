package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The commands of docs/events/database-password.md, run as root on an installation whose database
 * asks for the password. Run by {@code .ci/restore}, since it needs psql.
 */
class DatabasePasswordIT {
    private static final String PAGE = "events/database-password.md";
    private static final List<String> BLOCKS = Documented.blocks(PAGE, "sh");
    private static final String ROLE = "mintmark_service";

    @TempDir private Path directory;

    private OwnServer server;
    private RootInstallation installation;

    @BeforeEach
    void start() throws IOException {
        server = new OwnServer(directory.resolve("database"));
        server.run(Files.readString(Path.of("db", "roles.sql")));
        server.run(
                """
                CREATE ROLE test_owner LOGIN PASSWORD '%s' IN ROLE mintmark_owner;
                CREATE ROLE %s LOGIN PASSWORD 'first' IN ROLE mintmark_app;
                """
                        .formatted(OwnServer.PASSWORD, ROLE));
        Path rules = directory.resolve("database").resolve("data").resolve("pg_hba.conf");
        Files.writeString(
                rules,
                "host all %s all scram-sha-256\n%s".formatted(ROLE, Files.readString(rules)));
        server.run("SELECT pg_reload_conf()");
        installation =
                new RootInstallation(
                        directory,
                        Map.of(
                                "DATABASE",
                                server.url().replace("jdbc:", "").replace("//", "//postgres@"),
                                "DATABASE_URL",
                                server.url(),
                                "DATABASE_USERNAME",
                                ROLE,
                                "DATABASE_PASSWORD",
                                "",
                                "DATABASE_PASSWORD_FILE",
                                "/etc/mintmark/service-password"));
        installation.succeeds(
                """
                echo first > /etc/mintmark/service-password
                chgrp --reference=/etc/mintmark/audit.pem /etc/mintmark/service-password
                chmod 640 /etc/mintmark/service-password
                """);
        installation.start();
    }

    @AfterEach
    void stop() {
        installation.close();
        server.close();
    }

    @Test
    void the_database_refuses_the_old_password_and_both_replicas_serve_with_the_new_one() {
        long sessions = sessions();
        assertNotEquals(0, sessions);
        installation.succeeds(BLOCKS.get(0));
        installation.succeeds(BLOCKS.get(1));
        assertTrue(installation.said().contains(Long.toString(sessions)), installation::said);
        installation.succeeds(BLOCKS.get(2));
        assertNotEquals(0, sessions());
        assertEquals(3, BLOCKS.size());
    }

    @Test
    void the_page_proves_nothing_while_the_old_password_is_accepted() {
        installation.succeeds("cp -p /etc/mintmark/service-password /etc/mintmark/.leaked");
        assertNotEquals(0, installation.run(BLOCKS.get(2)));
    }

    private long sessions() {
        return Long.parseLong(
                server.value(
                        "SELECT count(*) FROM pg_stat_activity WHERE usename = '%s'"
                                .formatted(ROLE)));
    }
}
