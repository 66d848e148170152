package io.mintmark.console.pages;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Test;

import java.net.URI;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** A console that knows the console of another cell. */
class OtherCellsTest {
    private static final URI OTHER = URI.create("https://console-b.example.com:8443");

    @Test
    void a_search_leads_to_the_same_search_in_the_other_cell() {
        try (TestDatabase database = ConsoleWorld.filled();
                ConsoleWorld world =
                        new ConsoleWorld(
                                database.login(Who.CONSOLE),
                                Optional.empty(),
                                List.of(OTHER),
                                InstantSource.system())) {
            assertShows(
                    world.page("auditor", "/mints?q=of%20%22no%22%20cell&outcome=denied"),
                    " <a href=\""
                            + OTHER
                            + "/mints?q=of%20%22no%22%20cell&amp;outcome=denied\">console-b.example.com:8443</a>");
            assertShows(world.page("auditor", "/mints?q=deploy"), OTHER + "/mints?q=deploy\"");
            assertLacks(world.page("auditor", "/mints"), OTHER.toString());
        }
    }
}
