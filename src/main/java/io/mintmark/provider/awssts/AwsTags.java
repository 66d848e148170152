package io.mintmark.provider.awssts;

import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.MintOrder;

import software.amazon.awssdk.services.sts.model.Tag;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The subject of a session as AWS session tags: policies can ask for {@code
 * aws:PrincipalTag/tenant}, and CloudTrail shows them. They aren't transitive: a role chained from
 * the session would have to allow {@code sts:TagSession} too, and its source identity, the mint id,
 * leads to the audit row that says the same.
 */
final class AwsTags {
    /** IAM User Guide, "Rules for tagging in IAM and AWS STS". */
    private static final Pattern VALUE = Pattern.compile("[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]{0,256}");

    private static final String HASH = "sha256:";

    private final Map<String, String> values = new LinkedHashMap<>();

    AwsTags(MintOrder order) {
        values.put("tenant", fit(order.tenant().value()));
        values.put("key", fit(order.key().value()));
        values.put("idp", fit(order.idp().value()));
        values.put("subject", fit(order.subject()));
        order.actor().ifPresent(actor -> values.put("actor", fit(actor.subject())));
    }

    /** The value of the claim {@code https://aws.amazon.com/tags}: each tag has a list of one. */
    Map<String, Object> asClaim() {
        return Map.of(
                "principal_tags",
                values.entrySet().stream()
                        .collect(
                                Collectors.toMap(
                                        Map.Entry::getKey, tag -> List.of(tag.getValue()))));
    }

    /** The parameter {@code Tags} of AssumeRole. */
    List<Tag> asParameter() {
        return values.entrySet().stream()
                .map(tag -> Tag.builder().key(tag.getKey()).value(tag.getValue()).build())
                .toList();
    }

    /**
     * Replaces a value that doesn't fit, or that looks like a hash, with its hash. Otherwise a
     * client could choose a value that equals another one's hash.
     */
    private static String fit(String value) {
        return VALUE.matcher(value).matches() && !isLikeAHash(value)
                ? value
                : HASH + HexFormat.of().formatHex(new Secret(value).hash());
    }

    private static boolean isLikeAHash(String value) {
        return value.regionMatches(true, 0, HASH, 0, HASH.length());
    }
}
