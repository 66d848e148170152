package io.mintmark.base.json;

import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.util.BufferRecycler;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.core.util.RecyclerPool;
import com.fasterxml.jackson.databind.json.JsonMapper;

/**
 * Jackson's factories with a bounded pool of buffers. By default each thread keeps its own, and
 * every connection has a thread: an idle connection kept buffers of the size of its largest token.
 */
public final class JacksonFactories {
    /** A set of buffers can grow to some 200 KiB. */
    private static final int MOST_POOLED = 32;

    private static final RecyclerPool<BufferRecycler> POOL =
            JsonRecyclerPools.newBoundedPool(MOST_POOLED);

    private JacksonFactories() {}

    /** Configures a factory of parsers and generators. */
    public static JsonFactoryBuilder factory() {
        JsonFactoryBuilder builder = new JsonFactoryBuilder();
        builder.recyclerPool(POOL);
        return builder;
    }

    /** Configures a mapper for documents of the broker's own, or of its database. */
    public static JsonMapper.Builder mapper() {
        return JsonMapper.builder(factory().build());
    }
}
