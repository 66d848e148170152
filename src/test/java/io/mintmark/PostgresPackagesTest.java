package io.mintmark;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The subpackages of {@code postgres}, and which others each may use. */
@AnalyzeClasses(packages = "io.mintmark.postgres", importOptions = PackagesTest.WithoutTests.class)
class PostgresPackagesTest {
    private static final String PREFIX = "io.mintmark.postgres.";

    private static final Map<String, Set<String>> MAY_USE =
            Map.of(
                    "connection", Set.of(),
                    "canonical", Set.of(),
                    "migration", Set.of("connection"),
                    "admin", Set.of("connection"),
                    "catalogue", Set.of("connection", "canonical"),
                    "log", Set.of("connection", "canonical"),
                    "ending", Set.of("connection", "canonical", "catalogue"),
                    "export", Set.of("connection", "canonical", "log"),
                    "verify", Set.of("connection", "canonical", "catalogue", "log", "migration"));

    @ArchTest static final ArchRule SUBPACKAGES = subpackages();

    private static LayeredArchitecture subpackages() {
        LayeredArchitecture layers = layeredArchitecture().consideringOnlyDependenciesInLayers();
        for (String layer : MAY_USE.keySet()) {
            layers = layers.layer(layer).definedBy(PREFIX + layer);
        }
        for (Map.Entry<String, Set<String>> layer : MAY_USE.entrySet()) {
            String[] used = layer.getValue().toArray(String[]::new);
            var rule = layers.whereLayer(layer.getKey());
            layers =
                    used.length == 0 ? rule.mayNotAccessAnyLayer() : rule.mayOnlyAccessLayers(used);
        }
        return layers;
    }

    @ArchTest
    static void every_subpackage_has_its_rule(JavaClasses classes) {
        assertEquals(
                new TreeSet<>(MAY_USE.keySet()),
                classes.stream()
                        .map(JavaClass::getPackageName)
                        .filter(name -> name.startsWith(PREFIX))
                        .map(name -> name.substring(PREFIX.length()))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }
}
