package io.mintmark.wiring;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/**
 * The classes and streams of one jar, whose signature isn't verified: the JDK holds it against no
 * certificate that anybody chose, so whoever can change the jar can take the signature away, and to
 * digest the jar's library of 10 MB takes longer than to load it. Lives as long as the process.
 */
final class JarLoader extends ClassLoader {
    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;

    /** Of a jar that needs nothing but the platform. */
    JarLoader(Path jar) throws IOException {
        super(getPlatformClassLoader());
        this.jar = new JarFile(jar.toFile(), false);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try (InputStream code = stream(name.replace('.', '/') + ".class")) {
            if (code == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = code.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    @Override
    public @Nullable InputStream getResourceAsStream(String name) {
        try {
            return stream(name);
        } catch (IOException e) {
            return null;
        }
    }

    private @Nullable InputStream stream(String name) throws IOException {
        ZipEntry entry = jar.getEntry(name);
        return entry == null ? null : jar.getInputStream(entry);
    }
}
