package io.mintmark.broker.http;

import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.CredentialFormat;
import io.mintmark.broker.exchange.KeySelection;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.grant.Key;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The key that a client of AWS STS means by an ARN: the granted key with exactly this {@code
 * role_arn}, else the key that the last part of the ARN names.
 */
record RoleKeys(String roleArn) implements KeySelection {
    /** The setting for which both types that STS can express use this name. */
    private static final String ROLE = "role_arn";

    @Override
    public Verdict<List<KeyName>> from(
            TenantName tenant,
            Collection<Granted> mintable,
            Resources resources,
            CredentialFormat format) {
        List<KeyName> ofRole =
                mintable.stream()
                        .map(Granted::key)
                        .filter(format::expresses)
                        .filter(this::isOfRole)
                        .map(Key::name)
                        .toList();
        return switch (ofRole.size()) {
            case 0 -> named().map(RoleKeys::one).orElseGet(RoleKeys::unknown);
            case 1 -> Verdict.passed(ofRole);
            default ->
                    named().filter(ofRole::contains)
                            .map(RoleKeys::one)
                            .orElseGet(() -> ambiguous(ofRole));
        };
    }

    private boolean isOfRole(Key key) {
        return roleArn.equals(key.settings().path(ROLE).textValue());
    }

    private Optional<KeyName> named() {
        String rest = roleArn.substring(roleArn.lastIndexOf(':') + 1);
        String name = rest.substring(rest.lastIndexOf('/') + 1);
        return KeyName.isValid(name) ? Optional.of(new KeyName(name)) : Optional.empty();
    }

    private static Verdict<List<KeyName>> one(KeyName name) {
        return Verdict.passed(List.of(name));
    }

    private static Verdict<List<KeyName>> unknown() {
        return refused(
                "No granted key has this RoleArn as its role_arn, and the last part of the ARN is"
                        + " not a valid key name.");
    }

    private static Verdict<List<KeyName>> ambiguous(List<KeyName> keys) {
        return refused(
                ("The keys '%s' have this role_arn. Send a RoleArn that ends in the name of one of"
                                + " them, such as arn:aws:iam::000000000000:role/%s.")
                        .formatted(
                                keys.stream()
                                        .map(KeyName::value)
                                        .collect(Collectors.joining("', '")),
                                keys.getFirst().value()));
    }

    private static Verdict<List<KeyName>> refused(String reason) {
        return Verdict.refused(new BadField("RoleArn", reason));
    }
}
