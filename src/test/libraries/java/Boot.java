import com.zaxxer.hikari.HikariDataSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A pool of Spring Boot logs in with a broker's login, by the settings of
 * docs/clients/databases.md.
 */
class Boot {
    @Configuration
    @ImportAutoConfiguration({
        DataSourceAutoConfiguration.class,
        JdbcTemplateAutoConfiguration.class
    })
    static class Application {}

    public static void main(String[] args) throws Exception {
        Properties settings = settings();
        settings.setProperty("spring.datasource.url", System.getenv("JDBC_URL"));
        settings.setProperty("spring.main.banner-mode", "off");
        SpringApplication application = new SpringApplication(Application.class);
        application.setDefaultProperties(settings);
        try (ConfigurableApplicationContext context = application.run()) {
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            String user = jdbc.queryForObject("SELECT current_user", String.class);
            check(user.startsWith("mm_"), user);
            check(
                    jdbc.queryForObject("SELECT id FROM public.orders", Integer.class) == 42,
                    "no row");
            HikariDataSource pool = context.getBean(HikariDataSource.class);
            check(
                    pool.getMaximumPoolSize() == 10 && pool.getMaxLifetime() == 900_000,
                    "other settings");
        }
        System.out.println("Spring Boot " + SpringBootVersion.getVersion());
    }

    private static Properties settings() throws Exception {
        String page =
                Files.readString(Path.of(System.getenv("DOCUMENTS"), "clients", "databases.md"));
        Matcher block = Pattern.compile("(?s)```properties\n(spring.*?)```").matcher(page);
        check(block.find(), "the page has no settings");
        Properties settings = new Properties();
        settings.load(new StringReader(block.group(1)));
        return settings;
    }

    private static void check(boolean holds, String message) {
        if (!holds) {
            throw new AssertionError(message);
        }
    }
}
