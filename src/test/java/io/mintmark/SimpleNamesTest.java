package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A name says which class is meant without its package, in tests as in what they test. */
@AnalyzeClasses(packages = "io.mintmark")
class SimpleNamesTest {

    @ArchTest
    static void no_two_classes_share_a_simple_name(JavaClasses classes) {
        Map<String, List<String>> packages =
                classes.stream()
                        .filter(JavaClass::isTopLevelClass)
                        .filter(type -> !type.getSimpleName().equals("package-info"))
                        .collect(
                                Collectors.groupingBy(
                                        JavaClass::getSimpleName,
                                        TreeMap::new,
                                        Collectors.mapping(
                                                JavaClass::getPackageName, Collectors.toList())));
        packages.values().removeIf(homes -> homes.size() == 1);

        assertEquals(Map.of(), packages);
    }
}
