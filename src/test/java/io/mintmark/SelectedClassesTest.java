package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

/** Which tests -Pfast and .ci/quick run. */
class SelectedClassesTest {

    @ParameterizedTest
    @CsvSource({
        "PatternsTest, true",
        "broker.token.KeySetTest, true",
        "base.sql.TestDatabase, false",
        "broker.catalogue.RefusalsTest, false",
        "endtoend.MintingTest, false",
        "clients.WriterTest, false",
    })
    void fast_is_what_starts_no_program_neither_itself_nor_by_another_class(
            String test, boolean selected) {
        assertEquals(
                selected,
                SelectedClasses.withoutPrograms(SelectedClasses.named(SelectedClasses.class))
                        .test("io.mintmark." + test));
    }

    @ParameterizedTest
    @CsvSource({
        // a class of the program selects its package, packages that use it, and the tests of all
        // code
        "src/main/java/io/mintmark/provider/oauth2/New.java, provider.oauth2.OAuth2Test, true",
        "src/main/java/io/mintmark/provider/oauth2/New.java, broker.grant.GrantTest, false",
        "src/main/java/io/mintmark/provider/oauth2/New.java, broker.catalogue.RefusalsTest, false",
        "src/main/java/io/mintmark/provider/oauth2/New.java, PatternsTest, true",
        "src/main/java/io/mintmark/broker/token/New.java, broker.grant.GrantTest, true",
        // a class of the tests selects itself and the tests that use it
        "src/test/java/io/mintmark/base/sql/SqlCase.java, broker.catalogue.RefusalsTest, true",
        "src/test/java/io/mintmark/base/sql/SqlCase.java, auditor.reader.LogVectorTest, false",
        // another file selects the tests that name it
        "docs/audit/correlation.sql, audit.log.CorrelationTest, true",
        "docs/audit/correlation.sql, broker.catalogue.RefusalsTest, false",
        "docs/audit/correlation.sql, DocumentsTest, true",
        "src/test/resources/vectors/grants/new.json, broker.catalogue.GrantVectorsTest, true",
        "src/test/resources/vectors/grants/new.json, broker.catalogue.AccessRacesTest, false",
        "db/migration/R__03_new.sql, broker.catalogue.AccessRacesTest, true",
        "db/migration/R__03_new.sql, broker.token.KeySetTest, false",
    })
    void changed_files_select_the_tests_that_they_concern(
            String changed, String test, boolean selected) {
        assertEquals(
                selected,
                SelectedClasses.changed(
                                List.of("README.md", changed),
                                SelectedClasses.named(Main.class),
                                SelectedClasses.named(SelectedClasses.class))
                        .test("io.mintmark." + test));
    }
}
