package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What admins can not write, and what they are told; the cases are files. */
@Tag("every-postgres")
class RefusalsTest {
    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("refusals", "setup"));
    }

    @TestFactory
    Stream<DynamicTest> a_row_that_could_not_work_is_refused_in_a_sentence() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (String file :
                List.of(
                        "tenants",
                        "identity_providers",
                        "access_providers",
                        "keys",
                        "grants",
                        "console_access",
                        "blocked_subjects",
                        "access_rules")) {
            for (SqlCase one : SqlCase.in("refusals", file)) {
                tests.add(
                        dynamicTest(
                                file + ": " + one.name(), () -> one.check(database, Who.ADMIN)));
            }
        }
        return tests.stream();
    }
}
