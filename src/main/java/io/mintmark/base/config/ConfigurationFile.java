package io.mintmark.base.config;

import io.mintmark.base.file.RegularFile;

import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The configuration file: YAML of known keys, whose scalars mean what is written. The usual
 * readers, Helidon's among them, take a password {@code 0123} for the number 83, and of two equal
 * keys the last; both would be hard to find, so this reads the nodes themselves. Complaints name
 * the line and never quote the file, which may hold passwords.
 */
final class ConfigurationFile {
    private static final int MOST_BYTES = 1 << 20;

    private final Path file;
    private final Complaints complaints;
    private final Map<String, RawSetting> givenByKey = new HashMap<>();

    private ConfigurationFile(Path file, Complaints complaints) {
        this.file = file;
        this.complaints = complaints;
    }

    /**
     * The file's settings by key.
     *
     * @param complaints takes what is wrong with single entries, such as unknown or repeated keys
     * @throws InvalidSettings if it isn't such a file
     */
    static Map<String, RawSetting> read(Path file, Complaints complaints) {
        ConfigurationFile reading = new ConfigurationFile(file, complaints);
        Node root = reading.compose();
        if (root != null) {
            reading.section("", root);
        }
        return Map.copyOf(reading.givenByKey);
    }

    private @Nullable Node compose() {
        try {
            String text = RegularFile.text(file, MOST_BYTES);
            return new Yaml(new LoaderOptions()).compose(new StringReader(text));
        } catch (MarkedYAMLException e) {
            throw new InvalidSettings(where(e.getProblemMark().getLine()) + " isn't valid YAML");
        } catch (RegularFile.Unfit e) {
            throw new InvalidSettings(file.getFileName() + " " + e.getMessage());
        } catch (IOException | YAMLException e) {
            throw new InvalidSettings(file.getFileName() + " can't be read as YAML in UTF-8");
        }
    }

    private void section(String prefix, Node node) {
        if (!(node instanceof MappingNode section)) {
            throw complaint(node, "must have pairs of keys and values here");
        }
        section.getValue().forEach(entry -> complaints.from(() -> entry(prefix, entry)));
    }

    private void entry(String prefix, NodeTuple entry) {
        if (!(entry.getKeyNode() instanceof ScalarNode name)) {
            throw complaint(entry.getKeyNode(), "must have a single word as the key here");
        }
        entry(prefix + name.getValue(), name, entry.getValueNode());
    }

    private void entry(String key, Node name, Node value) {
        if (KnownSettings.hasKey(key)) {
            setting(key, name, value);
        } else if (KnownSettings.hasSection(key)) {
            section(key + ".", value);
        } else {
            throw complaint(
                    name,
                    "has an unknown key '%s'; the nearest known key is '%s'"
                            .formatted(Format.echo(key), KnownSettings.nearestTo(key)));
        }
    }

    private void setting(String key, Node name, Node value) {
        RawSetting given = new RawSetting("%s (%s)".formatted(key, where(name)), text(value));
        if (!given.text().isBlank() && givenByKey.put(key, given) != null) {
            throw complaint(name, "has the key '%s' twice".formatted(key));
        }
    }

    private String text(Node value) {
        return switch (value) {
            case ScalarNode scalar -> scalar.getTag().equals(Tag.NULL) ? "" : scalar.getValue();
            case SequenceNode list ->
                    list.getValue().stream().map(this::element).collect(Collectors.joining(","));
            default -> throw complaint(value, "must have a string or a list here");
        };
    }

    private String element(Node node) {
        if (node instanceof ScalarNode scalar) {
            return scalar.getValue();
        }
        throw complaint(node, "must have strings in this list");
    }

    private InvalidSettings complaint(Node node, String what) {
        return new InvalidSettings(where(node) + " " + what);
    }

    private String where(Node node) {
        return where(node.getStartMark().getLine());
    }

    private String where(int line) {
        return "%s line %d".formatted(file.getFileName(), line + 1);
    }
}
