package io.mintmark.keycloak;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Who may exchange tokens of what, by Keycloak's fine-grained permissions of old: a policy that
 * names clients, given to the permission {@code token-exchange} of an identity provider or of a
 * client. It does what an administrator clicks together.
 */
record ExchangePermission(KeycloakRealm realm) {

    /** Lets clients exchange tokens that this identity provider's issuer signed. */
    void forTokensOf(String identityProvider, List<String> clients) {
        allow("/identity-provider/instances/" + identityProvider, identityProvider, clients);
    }

    /** Lets clients have tokens for this one. */
    void forTokensTo(String audience, List<String> clients) {
        allow("/clients/" + id(audience), audience, clients);
    }

    private void allow(String path, String name, List<String> clients) {
        String permission =
                realm.ask("PUT", path + "/management/permissions", "{\"enabled\": true}")
                        .at("/scopePermissions/token-exchange")
                        .asText();
        String server = "/clients/%s/authz/resource-server".formatted(id("realm-management"));
        String policy = policy(server, name, clients);
        String address = server + "/permission/scope/" + permission;
        ObjectNode changed = (ObjectNode) realm.ask("GET", address, "");
        changed.putArray("policies").add(policy);
        ids(realm.ask("GET", address + "/resources", ""), "_id")
                .forEach(changed.withArray("resources")::add);
        ids(realm.ask("GET", address + "/scopes", ""), "id")
                .forEach(changed.withArray("scopes")::add);
        realm.ask("PUT", address, changed.toString());
    }

    private String policy(String server, String name, List<String> clients) {
        String ids =
                clients.stream()
                        .map(client -> "\"" + id(client) + "\"")
                        .collect(Collectors.joining(","));
        return realm.ask(
                        "POST",
                        server + "/policy/client",
                        "{\"name\": \"exchange at %s\", \"clients\": [%s]}".formatted(name, ids))
                .path("id")
                .asText();
    }

    private static List<String> ids(JsonNode elements, String member) {
        return StreamSupport.stream(elements.spliterator(), false)
                .map(element -> element.path(member).asText())
                .toList();
    }

    private String id(String client) {
        return realm.pathOf(client).replaceFirst(".*/", "");
    }
}
