package io.mintmark.provider;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * Which members an answer has, each with the provider's field that fills it.
 *
 * @param fieldByMember for example {@code AWS_ACCESS_KEY_ID} from {@code AccessKeyId}
 * @param optional the same, for fields that not every credential has
 */
public record Outputs(Map<String, String> fieldByMember, Map<String, String> optional) {

    public Outputs {
        fieldByMember = Map.copyOf(fieldByMember);
        optional = Map.copyOf(optional);
    }

    /** Outputs that every credential of the key must have. */
    public Outputs(Map<String, String> fieldByMember) {
        this(fieldByMember, Map.of());
    }

    /** These outputs, or others if no field is named. */
    public Outputs orElse(Map<String, String> others) {
        return fieldByMember.isEmpty() ? new Outputs(others, optional) : this;
    }

    /** Renames a credential's fields to what the client sees. */
    public MintResult.Tried name(Minted credential) {
        Map<String, Secret> members = new HashMap<>();
        for (Map.Entry<String, String> output : fieldByMember.entrySet()) {
            Secret value = credential.fields().get(output.getValue());
            if (value == null) {
                return new Failed(
                        Reason.PROVIDER_MISCONFIGURED,
                        "key output '%s' names the field '%s', but the credential has only the fields %s"
                                .formatted(
                                        output.getKey(),
                                        output.getValue(),
                                        new TreeSet<>(credential.fields().keySet())));
            }
            members.put(output.getKey(), value);
        }
        optional.forEach((member, field) -> {
            Secret value = credential.fields().get(field);
            if (value != null) {
                members.put(member, value);
            }
        });
        return credential.named(members);
    }
}
