import groovy.lang.Binding;
import groovy.lang.Closure;
import groovy.lang.GroovyShell;
import groovy.lang.GroovySystem;
import groovy.lang.Script;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The block of docs/clients/tools.md for Jenkins, which can't be had here: Groovy runs the block,
 * and the four steps that it uses do what the documentation of Jenkins and of its plugins says.
 */
class Jenkins {
    private static final String TOKEN_FILE = System.getenv("MINTMARK_TOKEN_FILE");

    /** The steps of a pipeline. */
    public abstract static class Pipeline extends Script {
        private final Map<String, String> environment = new HashMap<>();
        private int statements;

        public Map<String, String> string(Map<String, String> credential) {
            check(
                    credential.keySet().equals(java.util.Set.of("credentialsId", "variable")),
                    "" + credential);
            return credential;
        }

        public void withCredentials(List<Map<String, String>> bindings, Closure<?> steps)
                throws Exception {
            for (Map<String, String> binding : bindings) {
                environment.put(binding.get("variable"), Files.readString(Path.of(TOKEN_FILE)));
            }
            steps.call();
        }

        public void withEnv(List<String> variables, Closure<?> steps) {
            for (String variable : variables) {
                String[] parts = variable.split("=", 2);
                environment.put(parts[0], parts[1]);
            }
            steps.call();
        }

        public void sh(String script) throws Exception {
            Path directory = Files.createTempDirectory("jenkins");
            Path aws = directory.resolve("aws");
            Files.writeString(aws, "#!/bin/sh\necho \"$* as $AWS_ACCESS_KEY_ID\"\n");
            check(aws.toFile().setExecutable(true), "no program");
            ProcessBuilder builder = new ProcessBuilder("sh", "-xe", "-c", script);
            builder.environment().clear();
            builder.environment().putAll(environment);
            builder.environment().put("MINTMARK_URL", System.getenv("MINTMARK_URL"));
            builder.environment()
                    .put(
                            "PATH",
                            Path.of(System.getenv("MINTMARK_CLIENT")).getParent()
                                    + ":"
                                    + directory
                                    + ":"
                                    + System.getenv("PATH"));
            Process process = builder.redirectErrorStream(true).start();
            String out = new String(process.getInputStream().readAllBytes());
            check(process.waitFor() == 0, out);
            check(out.contains("s3 ls as ASIA"), out);
            check(!out.contains(environment.get("MINTMARK_TOKEN")), "the token is in the log");
            statements++;
        }
    }

    public static void main(String[] args) throws Exception {
        String page = Files.readString(Path.of(System.getenv("DOCUMENTS"), "clients", "tools.md"));
        Matcher block = Pattern.compile("(?s)```groovy\n(.*?)```").matcher(page);
        check(block.find(), "the page has no block");
        var configuration = new org.codehaus.groovy.control.CompilerConfiguration();
        configuration.setScriptBaseClass(Pipeline.class.getName());
        Pipeline pipeline =
                (Pipeline)
                        new GroovyShell(
                                        Jenkins.class.getClassLoader(),
                                        new Binding(),
                                        configuration)
                                .parse(block.group(1));
        pipeline.run();
        check(pipeline.statements == 1, "nothing was run");
        check(
                "https://mintmark.example.com".equals(pipeline.environment.get("MINTMARK_URL")),
                "another address");
        System.out.println("Groovy " + GroovySystem.getVersion());
    }

    private static void check(boolean holds, String message) {
        if (!holds) {
            throw new AssertionError(message);
        }
    }
}
