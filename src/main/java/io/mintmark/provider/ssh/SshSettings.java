package io.mintmark.provider.ssh;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.CaKey;
import io.mintmark.provider.KeyReference;
import io.mintmark.provider.Settings;

import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The settings of an access provider of type {@code ssh} and of a key there.
 *
 * @param caKey where the CA's private key is
 * @param knownHosts lines for clients' known_hosts
 */
record SshSettings(
        KeyReference caKey,
        List<String> knownHosts,
        List<String> principals,
        SortedMap<String, String> options,
        SortedSet<String> extensions) {
    private static final int MOST = 64;

    /**
     * The form of a principal. It has no comma and no space, because sshd splits lists of
     * principals there.
     */
    private static final Pattern PRINCIPAL =
            Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.@:/+-]{0,127}");

    private static final Pattern ADDRESS = Pattern.compile("[0-9A-Fa-f:.]{2,45}(/[0-9]{1,3})?");
    private static final Pattern COMMAND = Pattern.compile("[ -~]{1,1024}");
    private static final Set<String> EXTENSIONS =
            Set.of(
                    "no-touch-required",
                    "permit-X11-forwarding",
                    "permit-agent-forwarding",
                    "permit-port-forwarding",
                    "permit-pty",
                    "permit-user-rc");

    static Settings ofProvider(JsonNode settings) {
        return Settings.ofProvider(settings, Set.of("ca_key", "known_hosts"));
    }

    static SshSettings of(JsonNode ofProvider, JsonNode ofKey) {
        Settings provider = ofProvider(ofProvider);
        Settings key =
                Settings.ofKey(
                        ofKey,
                        Set.of(
                                "principals",
                                "extensions",
                                "force_command",
                                "source_address",
                                "caller_key"));
        var _ = key.oneOf("caller_key", "optional", "required", "refused");
        SortedMap<String, String> options = new TreeMap<>();
        key.text("force_command").ifPresent(command -> options.put("force-command", command));
        List<String> addresses = key.texts("source_address");
        if (!addresses.isEmpty()) {
            options.put("source-address", String.join(",", addresses));
        }
        SshSettings settings =
                new SshSettings(
                        CaKey.reference(provider),
                        provider.texts("known_hosts"),
                        key.texts("principals"),
                        options,
                        new TreeSet<>(key.texts("extensions")));
        settings.require(key, addresses);
        return settings;
    }

    private void require(Settings key, List<String> addresses) {
        if (principals.isEmpty()) {
            throw key.unusable("principals", "is missing");
        }
        if (principals.size() > MOST || !allMatch(PRINCIPAL, principals)) {
            throw key.unusable(
                    "principals",
                    "must be at most %d names of the form %s".formatted(MOST, PRINCIPAL));
        }
        if (!EXTENSIONS.containsAll(extensions)) {
            throw key.unusable("extensions", "may contain only " + new TreeSet<>(EXTENSIONS));
        }
        if (addresses.size() > MOST) {
            throw key.unusable(
                    "source_address",
                    "has %d networks; the maximum is %d".formatted(addresses.size(), MOST));
        }
        for (String address : addresses) {
            if (!ADDRESS.matcher(address).matches()) {
                throw key.unusable(
                        "source_address",
                        "has '%s', which is not an IP network".formatted(address));
            }
        }
        if (!COMMAND.matcher(options.getOrDefault("force-command", "-")).matches()) {
            throw key.unusable("force_command", "must be one line of printable ASCII");
        }
    }

    private static boolean allMatch(Pattern form, List<String> texts) {
        return texts.stream().allMatch(text -> form.matcher(text).matches());
    }
}
