package io.mintmark.console.pages.overview;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** What the overview counts, and for whom. */
@Tag("every-postgres")
class OverviewPageTest {
    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void the_overview_counts_what_was_minted_and_refused() {
        String page = world.page("auditor", "/");
        String mints = database.value("SELECT count(*) FROM audit.event WHERE kind = 'requested'");
        String denied = database.value("SELECT count(*) FROM audit.event WHERE kind = 'denied'");
        String alive =
                database.value(
                        "SELECT count(*) FROM audit.event WHERE expires_at > now() AND kind IN"
                                + " ('issued', 'withheld')");

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
                database.value(
                        "SELECT count(*) FROM audit.event WHERE kind = 'requested' AND tenant ="
                                + " 'acme'");

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
