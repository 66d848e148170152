package io.mintmark.base.credential;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A type for tests, whose credentials have no fields but those of its default outputs. */
public record FakeType(Map<String, String> defaultOutputs) implements CredentialType {

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public Set<String> fields() {
        return Set.copyOf(defaultOutputs.values());
    }

    @Override
    public String earlyEnd() {
        return "Nothing ends them early.";
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return List.of(ManualRevocation.of("", credentials, earlyEnd()));
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog("Fakes keep no log.", Optional.empty());
    }
}
