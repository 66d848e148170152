package io.mintmark;

import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;

import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.StringEntry;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs a part of the tests: with {@code -Pfast} those that start no program, and so neither a
 * PostgreSQL nor a broker; with {@code -Dchanged=} those that the files named there concern.
 */
public final class SelectedClasses implements PostDiscoveryFilter {
    private static final String ROOT = "io.mintmark";

    /** Whose tests are about the statements of db. */
    private static final Set<String> OF_THE_SCHEMA =
            Set.of(ROOT + ".base.schema", ROOT + ".broker.catalogue");

    /** What starts programs. */
    private static final Set<String> STARTS =
            Set.of(
                    "java.lang.ProcessBuilder",
                    "java.lang.Runtime",
                    "io.mintmark.base.sql.TestServer",
                    "io.mintmark.base.sql.EmbeddedServer");

    /**
     * What a class file names.
     *
     * @param types classes of any package
     * @param texts its constants
     */
    record Named(Set<String> types, Set<String> texts) {
        Named and(Named other) {
            Set<String> allTypes = new HashSet<>(types);
            allTypes.addAll(other.types);
            Set<String> allTexts = new HashSet<>(texts);
            allTexts.addAll(other.texts);
            return new Named(allTypes, allTexts);
        }
    }

    private static final class Selected {
        static final Predicate<String> CLASSES = by(System.getProperty("changed"));

        private static Predicate<String> by(@Nullable String changed) {
            if (changed != null) {
                return changed(
                        List.of(changed.split(",")),
                        named(Main.class),
                        named(SelectedClasses.class));
            }
            return Boolean.getBoolean("fast")
                    ? withoutPrograms(named(SelectedClasses.class))
                    : _ -> true;
        }
    }

    @Override
    public FilterResult apply(TestDescriptor found) {
        return FilterResult.includedIf(
                found.getSource()
                        .flatMap(SelectedClasses::testClass)
                        .map(SelectedClasses::topLevel)
                        .map(Selected.CLASSES::test)
                        .orElse(true));
    }

    private static Optional<String> testClass(TestSource source) {
        return switch (source) {
            case ClassSource type -> Optional.of(type.getClassName());
            case MethodSource method -> Optional.of(method.getClassName());
            default -> Optional.empty();
        };
    }

    /** By the top-level classes of the folder that holds one of them. */
    static Map<String, Named> named(Class<?> one) {
        return Unchecked.call(() -> {
            URI location = one.getProtectionDomain().getCodeSource().getLocation().toURI();
            Map<String, Named> all = new HashMap<>();
            try (Stream<Path> files = Files.walk(Path.of(location))) {
                for (Path file : files.filter(it -> it.toString().endsWith(".class")).toList()) {
                    var parsed = ClassFile.of().parse(file);
                    String name = name(parsed.thisClass());
                    all.merge(topLevel(name), named(parsed.constantPool()), Named::and);
                }
            }
            return all;
        });
    }

    private static Named named(Iterable<PoolEntry> pool) {
        Set<String> types = new HashSet<>();
        Set<String> texts = new HashSet<>();
        for (PoolEntry entry : pool) {
            if (entry instanceof ClassEntry type) {
                types.add(topLevel(name(type)));
            } else if (entry instanceof StringEntry text) {
                texts.add(text.stringValue());
            }
        }
        return new Named(types, texts);
    }

    private static String name(ClassEntry type) {
        return type.asInternalName().replace('/', '.');
    }

    private static String topLevel(String name) {
        return name.replaceFirst("\\$.*", "");
    }

    /** Whose classes start nothing, nor any that they use. */
    static Predicate<String> withoutPrograms(Map<String, Named> tests) {
        Set<String> starting = new HashSet<>(STARTS);
        int before;
        do {
            before = starting.size();
            tests.forEach((name, named) -> {
                if (named.types.stream().anyMatch(starting::contains)) {
                    starting.add(name);
                }
            });
        } while (starting.size() > before);
        return name -> !starting.contains(name);
    }

    /**
     * For a changed class of the program, selects the tests of its package, of the packages that
     * use it, and each test that uses it; for any other file, the tests that name it. The tests of
     * all code and all documents are always selected.
     */
    static Predicate<String> changed(
            List<String> paths, Map<String, Named> program, Map<String, Named> tests) {
        Set<String> changed =
                paths.stream()
                        .filter(path -> path.startsWith("src/main/java/"))
                        .map(SelectedClasses::type)
                        .map(SelectedClasses::packageOf)
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> packages = new TreeSet<>(changed);
        packages.add(ROOT);
        if (paths.stream().anyMatch(path -> path.startsWith("db/"))) {
            packages.addAll(OF_THE_SCHEMA);
        }
        program.forEach((name, named) -> {
            if (uses(named, changed)) {
                packages.add(packageOf(name));
            }
        });
        Set<String> types =
                paths.stream()
                        .filter(path -> path.startsWith("src/test/java/"))
                        .map(SelectedClasses::type)
                        .collect(Collectors.toSet());
        Set<String> names =
                paths.stream()
                        .filter(path -> !path.endsWith(".java"))
                        .flatMap(SelectedClasses::names)
                        .collect(Collectors.toSet());
        return name -> {
            Named named = tests.getOrDefault(name, new Named(Set.of(), Set.of()));
            return packages.contains(packageOf(name))
                    || types.contains(name)
                    || uses(named, changed)
                    || named.types.stream().anyMatch(types::contains)
                    || named.texts.stream().map(SelectedClasses::last).anyMatch(names::contains);
        };
    }

    /** How a test names a file; one of vectors and scripts by its folder or without its ending. */
    private static Stream<String> names(String path) {
        String name = last(path);
        return path.startsWith("src/test/resources/")
                ? Stream.of(
                        name,
                        name.replaceFirst("\\.\\w+$", ""),
                        last(path.substring(0, path.lastIndexOf('/'))))
                : Stream.of(name);
    }

    private static String last(String text) {
        return text.substring(text.lastIndexOf('/') + 1);
    }

    private static boolean uses(Named named, Set<String> packages) {
        return named.types.stream().anyMatch(type -> packages.contains(packageOf(type)));
    }

    private static String type(String path) {
        return path.replaceFirst("^src/[a-z]+/java/", "")
                .replaceFirst("\\.java$", "")
                .replace('/', '.');
    }

    private static String packageOf(String type) {
        return type.substring(0, Math.max(0, type.lastIndexOf('.')));
    }
}
