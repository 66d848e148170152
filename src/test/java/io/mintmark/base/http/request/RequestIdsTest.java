package io.mintmark.base.http.request;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

import io.helidon.http.WritableHeaders;

import org.junit.jupiter.api.Test;

import java.util.UUID;

final class RequestIdsTest {
    private static final int VERSION_4 = 4;
    private static final int VARIANT = 2;

    @Test
    void a_request_without_an_id_gets_a_random_uuid() {
        UUID one = UUID.fromString(RequestIds.chosen(WritableHeaders.create()));
        UUID other = UUID.fromString(RequestIds.chosen(WritableHeaders.create()));
        assertEquals(VERSION_4, one.version());
        assertEquals(VARIANT, one.variant());
        assertNotEquals(one, other);
    }

    @Test
    void an_id_of_the_caller_is_kept_if_it_is_harmless() {
        assertEquals("build-7", chosen("build-7"));
        assertNotEquals("build 7", chosen("build 7"));
    }

    /** It takes a lock that all requests of all tenants share. */
    @Test
    void no_request_takes_a_number_from_the_secure_source() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.mintmark.broker.http..",
                        "io.mintmark.base.http..",
                        "io.mintmark.broker.token..")
                .should()
                .callMethod(UUID.class, "randomUUID")
                .check(
                        new ClassFileImporter()
                                .withImportOption(new ImportOption.DoNotIncludeTests())
                                .importPackages("io.mintmark"));
    }

    private static String chosen(String given) {
        return RequestIds.chosen(WritableHeaders.create().add(RequestIds.HEADER, given));
    }
}
