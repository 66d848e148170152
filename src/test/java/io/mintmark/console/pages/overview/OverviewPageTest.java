package io.mintmark.console.pages.overview;

import static io.mintmark.console.pages.ConsoleWorld.assertShows;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.postgres.TestDatabase;
import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;

/** What the overview counts, and for whom. */
@Tag("every-postgres")
class OverviewPageTest {
    @AutoClose private static TestDatabase database;
    private static ConsoleWorld world;

    @BeforeAll
    static void setUp() {
        database = ConsoleWorld.filled();
        world = database.closing(new ConsoleWorld(database.login(Who.CONSOLE), Optional.empty()));
    }

    @Test
    void the_overview_counts_what_was_minted_and_refused() {
        String page = world.page("auditor", "/");
        String mints =
                database.column("SELECT count(*) FROM audit.event WHERE kind = 'requested'")
                        .getFirst();
        String denied =
                database.column("SELECT count(*) FROM audit.event WHERE kind = 'denied'")
                        .getFirst();
        String alive =
                database.column(
                                "SELECT count(*) FROM audit.event WHERE expires_at > now() AND kind IN ('issued', 'withheld')")
                        .getFirst();

        assertShows(
                page,
                "<b>" + mints + "</b> <a href=\"/mints?outcome=minted",
                "<b>" + denied + "</b> <a href=\"/mints?outcome=refused",
                "<b>" + alive + "</b> <a href=\"/mints?outcome=live",
                "<svg");
    }

    @Test
    void a_lead_is_counted_her_own_tenant_alone() {
        String mints =
                database.column(
                                "SELECT count(*) FROM audit.event WHERE kind = 'requested' AND tenant = 'acme'")
                        .getFirst();

        String page = world.page("lead", "/");

        assertShows(page, "<b>" + mints + "</b> <a href=\"/mints?outcome=minted");
        assertFalse(page.contains("globex"));
    }

    @Test
    void the_overview_says_since_when_it_counts() {
        ZonedDateTime since =
                ZonedDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.HOURS).minusHours(23);
        String page = world.page("auditor", "/");

        assertShows(
                page,
                "since %s?</h1>"
                        .formatted(
                                since.format(
                                        DateTimeFormatter.ofPattern(
                                                "d MMM uuuu, HH:mm 'UTC'", Locale.ENGLISH))),
                "/mints?outcome=minted&amp;from="
                        + since.format(DateTimeFormatter.ISO_LOCAL_DATE)
                        + "%20");
    }
}
