package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

import java.util.List;

/** Equivalent URIs of resources in SQL, by the vectors of Java. */
final class ResourceVectorsTest {
    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void start() {
        database = TestDatabase.migrated();
    }

    @ParameterizedTest
    @CsvFileSource(resources = "/vectors/resources.tsv", delimiter = '\t', quoteCharacter = '\0')
    void equivalent_uris_have_one_normal_form(String text, String normal) {
        for (String uri : List.of(text, normal)) {
            assertEquals(
                    List.of(normal),
                    database.column(
                            TestDatabase.Who.OWNER,
                            "SELECT internal.normal_uri('%s')".formatted(uri)));
        }
    }
}
