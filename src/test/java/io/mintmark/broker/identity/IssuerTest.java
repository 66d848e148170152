package io.mintmark.broker.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.tenant.TenantName;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Map;

class IssuerTest {

    @ParameterizedTest
    @CsvSource({
        "https://broker.example,   https://broker.example/.well-known/jwks.json",
        "https://broker.example/,  https://broker.example/.well-known/jwks.json",
        "https://broker.example/a, https://broker.example/a/.well-known/jwks.json",
    })
    void its_document_has_its_exact_name_and_leads_to_the_keys(String name, String keys)
            throws JsonProcessingException {
        assertDocument(new Issuer(name), name, keys);
    }

    @ParameterizedTest
    @CsvSource({"https://broker.example", "https://broker.example/"})
    void a_tenants_issuer_is_below_the_brokers(String name) throws JsonProcessingException {
        assertDocument(
                new Issuer(name).ofTenant(new TenantName("acme")),
                "https://broker.example/tenants/acme",
                "https://broker.example/tenants/acme/.well-known/jwks.json");
    }

    private static void assertDocument(Issuer issuer, String name, String keys)
            throws JsonProcessingException {
        var document =
                new ObjectMapper().readTree(issuer.discoveryDocument(List.of("ES256"), Map.of()));
        assertEquals(name, document.path("issuer").textValue());
        assertEquals(keys, document.path("jwks_uri").textValue());
        assertEquals(
                "ES256",
                document.path("id_token_signing_alg_values_supported").path(0).textValue());
    }
}
