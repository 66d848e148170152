package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.tenant.Glob;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.List;

/** Which globs of subjects may be granted, by the database's rule and by the service's. */
class AnchoredGlobTest {
    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void start() {
        database = TestDatabase.migrated();
    }

    @Test
    void both_say_alike_whether_a_glob_starts_with_a_literal_segment() {
        for (String glob :
                List.of(
                        "repo:acme/**",
                        "repo:**",
                        "**",
                        "*",
                        "rep*:acme",
                        "repo*",
                        "repo",
                        ":acme",
                        "/acme",
                        "",
                        "system:serviceaccount:*:ci",
                        "spiffe://**",
                        "spiffe://*",
                        "spiffe://*/ci",
                        "spiffe://acme.example",
                        "spiffe://acme.example*",
                        "spiffe://acme.example/**",
                        "spiffe://acme.example/*/ci",
                        "spiffe:///**",
                        "spiffe:/**",
                        "spiffe:**",
                        "SPIFFE:*",
                        "spiffe*",
                        "https://idp.example:8443/**",
                        "https://idp.example:*/x",
                        "https:**",
                        "urn:acme:**",
                        "a+b-c.d://h/**",
                        "1a://h/**",
                        "x:/*")) {
            String anchored =
                    database.column(
                                    TestDatabase.Who.OWNER,
                                    "SELECT internal.is_anchored('%s')::text".formatted(glob))
                            .getFirst();
            assertEquals(anchored, Boolean.toString(new Glob(glob).isAnchored()), glob);
        }
    }

    @Test
    void the_host_of_a_uri_belongs_to_its_first_segment() {
        assertEquals(
                List.of("f", "f", "f", "t", "t"),
                database.column(
                        "SELECT internal.is_anchored(g) FROM"
                                + " unnest('{spiffe://**,spiffe:**,spiffe://a*/x,spiffe://a/**,repo:a/**}'::text[])"
                                + " AS g"));
    }
}
