package io.mintmark.base.thread;

import static com.tngtech.archunit.lang.conditions.ArchConditions.callCodeUnitWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

/** Where platform threads are started, and where they are documented. */
@Tag("heavy")
class PlatformThreadsTest {
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `([a-z-]+)`(?:, `([a-z-]+)`)? \\|");
    private static final List<Class<?>> THREADS_AND_POOLS =
            List.of(Thread.class, ThreadPoolExecutor.class, ForkJoinPool.class, Timer.class);

    /** Elsewhere nobody would notice the death of one. Virtual threads may be started anywhere. */
    private static final ArchRule STARTED_IN_ONE_PACKAGE =
            noClasses()
                    .that()
                    .haveNameNotMatching(
                            "io\\.mintmark\\.base\\.thread\\.(Background|Helper)Thread.*")
                    .should(
                            callCodeUnitWhere(
                                    DescribedPredicate.describe(
                                            "it starts a platform thread",
                                            PlatformThreadsTest::startsOne)));

    /** Whether it starts one, or has a pool start one. */
    private static boolean startsOne(JavaCall<?> call) {
        JavaClass owner = call.getTargetOwner();
        String name = call.getTarget().getName();
        if (name.equals(JavaConstructor.CONSTRUCTOR_NAME)) {
            return THREADS_AND_POOLS.stream().anyMatch(owner::isAssignableTo);
        }
        return startsInCommonPool(call)
                || (owner.isEquivalentTo(Thread.class) && name.equals("ofPlatform"))
                || (owner.isEquivalentTo(Executors.class)
                        && !name.equals("newVirtualThreadPerTaskExecutor"));
    }

    private static boolean startsInCommonPool(JavaCall<?> call) {
        JavaClass owner = call.getTargetOwner();
        String name = call.getTarget().getName();
        boolean asynchronous =
                owner.isAssignableTo(CompletionStage.class)
                        && (name.endsWith("Async") || name.equals("delayedExecutor"))
                        && call.getTarget().getRawParameterTypes().stream()
                                .noneMatch(type -> type.isEquivalentTo(Executor.class));
        return asynchronous
                || (owner.isEquivalentTo(ForkJoinPool.class) && name.equals("commonPool"))
                || (owner.isAssignableTo(BaseStream.class) && name.equals("parallel"))
                || name.equals("parallelStream");
    }

    @Test
    void the_program_starts_them_in_one_package() {
        JavaClasses program =
                new ClassFileImporter()
                        .withImportOption(new ImportOption.DoNotIncludeTests())
                        .importPackages("io.mintmark");

        STARTED_IN_ONE_PACKAGE.check(program);
    }

    /** Breaks the rule with each of its methods, and with its constructor. */
    static final class Starter extends Thread {
        static Thread ofBuilder() {
            return Thread.ofPlatform().start(() -> {});
        }

        static ExecutorService ofPool() {
            return Executors.newCachedThreadPool();
        }

        static CompletableFuture<Void> ofCommonPool() {
            return CompletableFuture.runAsync(() -> {});
        }

        static Timer ofTimer() {
            return new Timer();
        }

        static long ofStream() {
            return List.of(1).parallelStream().count();
        }
    }

    @Test
    void a_class_that_starts_them_by_itself_breaks_the_rule() {
        JavaClasses starter = new ClassFileImporter().importClasses(Starter.class);

        assertEquals(
                6, STARTED_IN_ONE_PACKAGE.evaluate(starter).getFailureReport().getDetails().size());
    }

    @Test
    void the_documented_background_threads_are_those_of_the_program() throws IOException {
        String page = Files.readString(Path.of("docs/internals/architecture.md"));
        String table = page.split("\n### Background threads\n", 2)[1].split("\n#+ ", 2)[0];

        assertEquals(
                Stream.of(ThreadName.values()).map(ThreadName::toString).toList(),
                ROW.matcher(table).results().flatMap(PlatformThreadsTest::names).toList());
    }

    private static Stream<String> names(MatchResult row) {
        return Stream.of(row.group(1), row.group(2)).filter(name -> name != null);
    }
}
