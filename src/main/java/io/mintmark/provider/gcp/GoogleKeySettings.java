package io.mintmark.provider.gcp;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Settings;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of a key of type {@code gcp}.
 *
 * @param serviceAccount whose power the credential has; without it, that of the federated identity
 * @param delegates the service accounts that lead to it, in their order
 */
record GoogleKeySettings(
        Optional<String> serviceAccount,
        List<String> scopes,
        List<String> delegates,
        Optional<AccessBoundary> boundary) {
    private static final String SERVICE_ACCOUNT = "service_account";
    private static final String SCOPES = "scopes";
    private static final String DELEGATES = "delegates";
    private static final String BOUNDARY = "access_boundary";
    private static final Set<String> NAMES = Set.of(SERVICE_ACCOUNT, SCOPES, DELEGATES, BOUNDARY);

    /** Service account addresses that are safe in the path of a Google API. */
    private static final Pattern ACCOUNT = Pattern.compile("[A-Za-z0-9._-]+@[A-Za-z0-9.-]+");

    private static final Pattern SCOPE = Pattern.compile("[\\x21-\\x7e]{1,255}");
    private static final int MOST_DELEGATES = 10;

    static GoogleKeySettings of(JsonNode members) {
        Settings settings = Settings.ofKey(members, NAMES);
        Optional<String> account = settings.text(SERVICE_ACCOUNT);
        account.ifPresent(email -> requireAccount(settings, SERVICE_ACCOUNT, email));
        return new GoogleKeySettings(
                account,
                scopes(settings, members),
                delegates(settings, account),
                settings.object(BOUNDARY)
                        .map(boundary -> AccessBoundary.of(settings, BOUNDARY, boundary)));
    }

    private static List<String> scopes(Settings settings, JsonNode members) {
        List<String> scopes = settings.texts(SCOPES);
        if (members.path(SCOPES).isArray() && scopes.isEmpty()) {
            throw settings.unusable(SCOPES, "must have at least one element, or be left out");
        }
        for (String scope : scopes) {
            if (!SCOPE.matcher(scope).matches()) {
                throw settings.unusable(SCOPES, "'%s' isn't a Google scope".formatted(scope));
            }
        }
        return scopes.isEmpty() ? List.of(GoogleTokens.CLOUD_PLATFORM) : scopes;
    }

    private static List<String> delegates(Settings settings, Optional<String> account) {
        List<String> delegates = settings.texts(DELEGATES);
        if (!delegates.isEmpty() && account.isEmpty()) {
            throw settings.unusable(DELEGATES, "requires a service_account");
        }
        if (delegates.size() > MOST_DELEGATES) {
            throw settings.unusable(
                    DELEGATES, "has more than %d elements, the maximum".formatted(MOST_DELEGATES));
        }
        delegates.forEach(email -> requireAccount(settings, DELEGATES, email));
        return delegates;
    }

    private static void requireAccount(Settings settings, String name, String email) {
        if (!ACCOUNT.matcher(email).matches()) {
            throw settings.unusable(
                    name, "'%s' isn't the address of a service account".formatted(email));
        }
    }
}
