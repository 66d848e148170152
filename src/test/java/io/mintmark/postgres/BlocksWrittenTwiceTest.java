package io.mintmark.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A database in which subjects were blocked twice, before that was refused. */
@Tag("every-postgres")
class BlocksWrittenTwiceTest {
    private static final String ENABLED =
            "SELECT concat_ws(' ', coalesce(tenant, '-'), subject, reason) FROM broker.blocked_subject WHERE enabled ORDER BY 1";

    /** What the migration does with them, and the index that it can make then. */
    private static String migration() throws IOException {
        String file = Files.readString(Path.of("db/migration/V25__a_block_is_written_once.sql"));
        return "SET ROLE mintmark_owner;"
                + file.substring(file.indexOf("-- Of those"), file.indexOf("-- Who blocks"));
    }

    @Test
    void the_one_that_lasts_longest_goes_on_and_the_history_agrees() throws IOException {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.run(
                    Who.OWNER,
                    "SET ROLE mintmark_owner; DROP INDEX broker.a_block_is_written_once");
            database.run(
                    Who.ADMIN,
                    """
                    INSERT INTO broker.tenant (name) VALUES ('acme');
                    INSERT INTO broker.blocked_subject (tenant, subject, reason, until, enabled)
                    VALUES ('acme', 'a', 'sooner', now() + interval '1 hour', true),
                           ('acme', 'a', 'longest', NULL, true),
                           ('acme', 'a', 'later', now() + interval '2 hours', true),
                           ('acme', 'b', 'sooner', now() + interval '1 hour', true),
                           ('acme', 'b', 'longest', now() + interval '2 hours', true),
                           ('acme', 'b', 'lifted', NULL, false),
                           (NULL, 'a', 'first', NULL, true),
                           (NULL, 'a', 'second', NULL, true),
                           (NULL, 'c', 'alone', NULL, true);
                    """);
            database.run(Who.OWNER, migration());
            assertEquals(
                    List.of("- a first", "- c alone", "acme a longest", "acme b longest"),
                    database.column(ENABLED));
            assertEquals(
                    List.of("9"), database.column("SELECT count(*) FROM broker.blocked_subject"));
            Seals.seal(database);
            assertEquals(List.of(), Seals.wrong(database));
        }
    }
}
