package io.mintmark.provider.azure;

import io.mintmark.base.outbound.TokenReply.Denied;
import io.mintmark.base.verdict.MintRefusal.Reason;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The meaning of the numbers at the start of Entra's descriptions ({@code AADSTS70021: …}); its
 * OAuth codes don't distinguish a wrong scope, an unknown application and a disabled one. Source:
 * learn.microsoft.com, "Microsoft Entra authentication and authorization error codes", and for
 * federated credentials the messages of the service itself. Numbers of users, browsers,
 * certificates and SAML are left out; an unlisted number counts by its OAuth code.
 */
final class EntraErrors {
    private static final Pattern NUMBER = Pattern.compile("AADSTS(\\d{4,10})\\b.*", Pattern.DOTALL);

    /** "No matching federated identity record found": 700211 issuer, 700212 audience, … */
    private static final String NO_MATCHING_CREDENTIAL = "70021";

    /** The token isn't accepted, or the keys for it can't be fetched (50166). */
    private static final Set<String> IDENTITY =
            Set.of(
                    "50006", "50012", "50013", "500133", "50027", "50048", "50166", "70002",
                    "700021", "7000215", "7000218", "700222", "7000222", "700024", "700027",
                    "700229", "900384");

    /**
     * Error codes with which Entra rejects a broker that it has identified: a policy, missing
     * consent or assignment, something disabled.
     */
    private static final Set<String> REJECTED =
            Set.of(
                    "50002", "500021", "500022", "50105", "501051", "500212", "500213", "5000224",
                    "53000", "53001", "53003", "530032", "530035", "53011", "65001", "70001",
                    "7000112", "7000114", "90093", "90094", "90099", "90123", "1000031");

    /**
     * Error codes for a directory, application, resource or scope that doesn't exist, or not in
     * this cloud.
     */
    private static final Set<String> MISCONFIGURED =
            Set.of(
                    "28002", "28003", "50001", "500011", "50049", "50059", "50128", "50194",
                    "650052", "650054", "650056", "650057", "700011", "700016", "700022", "700023",
                    "700025", "70003", "70011", "90002", "900023", "90013", "90014", "900144",
                    "90019", "90023", "9001023", "9002313", "900382", "90038", "900432", "90051",
                    "90100", "90102", "90124", "90130", "901002", "1002012");

    private static final Set<String> THROTTLED = Set.of("50196", "90055");

    /** OAuth error codes for faults of Entra itself. */
    private static final Set<String> TROUBLE =
            Set.of("50000", "50033", "90006", "90012", "90024", "90033", "90036", "90090", "90091");

    private EntraErrors() {}

    static Optional<Reason> meaning(Denied denied) {
        return denied.description()
                .map(NUMBER::matcher)
                .filter(Matcher::matches)
                .flatMap(number -> meaning(number.group(1)));
    }

    private static Optional<Reason> meaning(String number) {
        if (IDENTITY.contains(number) || number.startsWith(NO_MATCHING_CREDENTIAL)) {
            return Optional.of(Reason.BROKER_IDENTITY_REJECTED);
        }
        if (REJECTED.contains(number)) {
            return Optional.of(Reason.PROVIDER_REJECTED);
        }
        if (MISCONFIGURED.contains(number)) {
            return Optional.of(Reason.PROVIDER_MISCONFIGURED);
        }
        if (THROTTLED.contains(number)) {
            return Optional.of(Reason.PROVIDER_THROTTLED);
        }
        return TROUBLE.contains(number) ? Optional.of(Reason.PROVIDER_ERROR) : Optional.empty();
    }
}
