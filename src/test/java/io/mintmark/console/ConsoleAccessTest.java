package io.mintmark.console;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.ViewerDatabase.Bounds;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** What is asked of the database before there is a page. */
class ConsoleAccessTest {
    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() {
        database = TestDatabase.migrated();
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme')");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"plain", "it's", "back\\slash", "\\u0061", "\\', true); --", "tab\there"})
    void an_admin_who_runs_what_a_stranger_is_shown_lets_that_one_in_and_nobody_else(
            String subject) {
        String claims = JsonNodeFactory.instance.objectNode().put("sub", subject).toString();
        Viewer stranger = new Viewer("stranger", claims);
        String statement =
                ConsoleAccess.refusal(stranger).statement().replace("'TENANT'", "'acme'");

        for (String conforming : List.of("on", "off")) {
            database.admin(
                    "SET standard_conforming_strings = %s; %s".formatted(conforming, statement));
            database.assertRows("SELECT value #>> '{}' FROM broker.console_access", subject);
            database.admin("DELETE FROM broker.console_access");
        }
    }

    @Test
    void however_many_ask_for_its_health_the_database_is_asked_once_a_second()
            throws InterruptedException {
        AtomicLong nanos = new AtomicLong();
        var bounds = new Bounds(Duration.ofMillis(200), Duration.ofMinutes(1));
        try (ViewerDatabase viewers =
                new ViewerDatabase(
                        TestDatabase.patient(database.login(Who.CONSOLE), 1), 1, bounds)) {
            ConsoleHealth health = new ConsoleHealth(new ConsoleAccess(viewers), nanos::get);
            assertTrue(health.answers());
            CountDownLatch taken = new CountDownLatch(1);
            CountDownLatch over = new CountDownLatch(1);
            Thread page =
                    Thread.startVirtualThread(() ->
                            viewers.read(
                                    new Viewer("lead", "{}"),
                                    ViewerDatabaseTest.held(taken, over)));
            taken.await();

            assertTrue(health.answers());
            nanos.addAndGet(Duration.ofMillis(1001).toNanos());
            assertFalse(health.answers());

            over.countDown();
            page.join();
            assertFalse(health.answers());
            nanos.addAndGet(Duration.ofMillis(1001).toNanos());
            assertTrue(health.answers());
        }
    }
}
