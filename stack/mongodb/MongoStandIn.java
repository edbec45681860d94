import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.DatabaseResolver;
import de.bwaldvogel.mongo.backend.EmptyIndex;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.FailedToParseException;
import de.bwaldvogel.mongo.exception.MongoServerException;
import de.bwaldvogel.mongo.exception.NoSuchCommandException;
import de.bwaldvogel.mongo.oplog.Oplog;
import de.bwaldvogel.mongo.wire.bson.BsonDecoder;
import de.bwaldvogel.mongo.wire.bson.BsonEncoder;
import de.bwaldvogel.mongo.wire.message.MongoQuery;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.function.Supplier;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.ObjectDataType;

/** Speaks MongoDB's wire protocol over one H2 file. Arguments: data file, loopback port, user, file of the password. */
public final class MongoStandIn {
    private static final int WIRE_VERSION_THE_DRIVER_ASKS_FOR = 9;
    private static final int COMMIT_DELAY_MS = 50;
    /** How long a stop may take to free the space of replaced data. The next stop continues. */
    private static final int COMPACTION_MS = 1000;
    /** Documents outside the cache are deserialized at each read, which takes most of the time of a large store. */
    private static final int CACHE_MIB = 256;

    public static void main(String[] arguments) throws Exception {
        MVStore store = new MVStore.Builder().fileName(arguments[0]).cacheSize(CACHE_MIB).compress().open();
        store.setAutoCommitDelay(COMMIT_DELAY_MS);
        ScramGate gate = new ScramGate(arguments[2], Files.readString(Path.of(arguments[3])).strip());
        MongoServer server = new MongoServer(new DriverCompatibleBackend(store, gate));
        // Closing the server closes its backend, and with it the store.
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind("127.0.0.1", Integer.parseInt(arguments[1]));
    }

    private static final class DriverCompatibleBackend extends H2Backend {
        private final ScramGate gate;

        DriverCompatibleBackend(MVStore store, ScramGate gate) {
            super(store);
            this.gate = gate;
        }

        @Override
        public void close() {
            getMvStore().compactFile(COMPACTION_MS);
            super.close();
        }

        @Override
        protected MongoDatabase openOrCreateDatabase(String databaseName) {
            MVStore store = getMvStore();
            return new H2Database(databaseName, store, getCursorRegistry()) {
                @Override
                protected MongoCollection<Object> openOrCreateCollection(String name, CollectionOptions options) {
                    String fullName = getFullCollectionNamespace(name);
                    MVMap<Object, Document> data = store.openMap("databases." + fullName,
                            new MVMap.Builder<Object, Document>().valueType(new DocumentType()));
                    return new IndexedCollection(this, name, options, data, store.openMap("meta." + fullName), cursorRegistry);
                }

                /** The library opens the same map, and the store returns the one that is open. */
                @Override
                protected Index<Object> openOrCreateUniqueIndex(String collection, String index, List<IndexKey> keys,
                        boolean sparse) {
                    store.openMap(getFullCollectionNamespace(collection) + "._index_" + index,
                            new MVMap.Builder<Object, Object>().keyType(new IndexKeyType()));
                    if (keys.size() > 1 || !keys.get(0).getKey().equals("_id")) {
                        indexed(collection).addOrdering(index, keys);
                    }
                    return super.openOrCreateUniqueIndex(collection, index, keys, sparse);
                }

                /** The library stores the description of such an index, but not the index. */
                @Override
                protected Index<Object> openOrCreateSecondaryIndex(String collection, String index, List<IndexKey> keys,
                        boolean sparse) {
                    indexed(collection).addOrdering(index, keys);
                    return new EmptyIndex<>(index, keys);
                }

                @Override
                public Document handleCommand(Channel channel, String command, Document query,
                        DatabaseResolver databases, Oplog oplog) {
                    if (command.equals("explain")) return explain(channel, (Document) query.get(command), databases, oplog);
                    Supplier<Document> run = () -> super.handleCommand(channel, command, query, databases, oplog);
                    if (!command.equals("aggregate") || !(query.get("pipeline") instanceof List<?> pipeline)) return run.get();
                    IndexedCollection collection = indexed(query.get(command).toString());
                    return collection == null ? run.get() : collection.runPipeline(pipeline, run);
                }

                /** Answers for `find` with those fields of MongoDB that say how much was read. */
                private Document explain(Channel channel, Document find, DatabaseResolver databases, Oplog oplog) {
                    if (!find.containsKey("find")) throw new NoSuchCommandException("explain of another command than find");
                    IndexedCollection collection = indexed(find.get("find").toString());
                    if (collection == null) throw new MongoServerException("there is no such collection");
                    IndexedCollection.Read read =
                            collection.measure(() -> handleCommand(channel, "find", find, databases, oplog));
                    Document stage = new Document("stage", read.index() == null ? "COLLSCAN" : "IXSCAN");
                    stage.putIfNotNull("keyPattern", read.index());
                    Document statistics = new Document("totalDocsExamined", read.documentsExamined());
                    Document cursor = (Document) read.reply().get("cursor");
                    statistics.put("nReturned", ((List<?>) cursor.get("firstBatch")).size());
                    Document reply = new Document("queryPlanner", new Document("winningPlan", stage));
                    reply.put("executionStats", statistics);
                    reply.put("ok", 1.0);
                    return reply;
                }

                private IndexedCollection indexed(String collection) {
                    return (IndexedCollection) resolveCollection(collection, false);
                }
            };
        }

        @Override
        public Document handleCommand(Channel channel, String database, String command, Document query) {
            Document authentication = gate.check(channel, command, query);
            if (authentication != null) return authentication;
            Document reply = replyTo(channel, database, command, query);
            if (reply != null && reply.containsKey("maxWireVersion")) {
                reply.put("maxWireVersion", WIRE_VERSION_THE_DRIVER_ASKS_FOR);
            }
            return reply;
        }

        /** A read in the protocol before commands. */
        @Override
        public QueryResult handleQuery(MongoQuery query) {
            gate.requireAdmitted(query.getChannel(), "find");
            return super.handleQuery(query);
        }

        /** The library reports a stage whose value has a wrong type by the name of a Java class. */
        private Document replyTo(Channel channel, String database, String command, Document query) {
            try {
                return super.handleCommand(channel, database, command, query);
            } catch (MongoServerException refusal) {
                throw refusal;
            } catch (RuntimeException fault) {
                if (!command.equals("aggregate")) throw fault;
                throw new FailedToParseException("a stage or an operator has a value that is not allowed");
            }
        }
    }

    /** Stores documents as BSON, because H2 would use Java serialization. */
    private static final class DocumentType extends BasicDataType<Document> {
        @Override
        public void write(WriteBuffer buffer, Document document) {
            ByteBuf bson = encoded(document);
            buffer.putVarInt(bson.readableBytes()).put(bson.nioBuffer());
        }

        @Override
        public Document read(ByteBuffer buffer) {
            byte[] bson = new byte[DataUtils.readVarInt(buffer)];
            buffer.get(bson);
            return BsonDecoder.decodeBson(Unpooled.wrappedBuffer(bson));
        }

        @Override
        public int getMemory(Document document) {
            return 100 + 3 * encoded(document).readableBytes();
        }

        @Override
        public Document[] createStorage(int size) {
            return new Document[size];
        }

        /** An update changes the document while the store writes it. The change itself is written again. */
        private static ByteBuf encoded(Document document) {
            while (true) {
                try {
                    ByteBuf bson = Unpooled.buffer(1024);
                    BsonEncoder.encodeDocument(document, bson);
                    return bson;
                } catch (ConcurrentModificationException changed) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    /**
     * Compares and stores the keys of indexes. H2 would serialize both keys for each comparison. The order is that of
     * the serialized keys, because other keys are still compared so: short strings come before long ones.
     */
    private static final class IndexKeyType extends ObjectDataType {
        /** H2 uses no type with this number or a higher one. */
        private static final byte OWN_FORMAT = 120;
        private static final int LONGEST_SHORT_STRING = 65_535;
        /** Separate from this object, because H2's type remembers the type of its last value for the next comparison. */
        private final ObjectDataType strings = new ObjectDataType();

        @Override
        public int compare(Object a, Object b) {
            if (!(a instanceof KeyValue one && b instanceof KeyValue other) || one.size() != other.size()) {
                return super.compare(a, b);
            }
            for (int at = 0; at < one.size(); at++) {
                if (!(isAscii(one.get(at)) && isAscii(other.get(at)))) return super.compare(a, b);
                String first = (String) one.get(at);
                String second = (String) other.get(at);
                int order = Integer.compare(first.length(), second.length());
                if (order == 0) order = first.compareTo(second);
                if (order != 0) return order;
            }
            return 0;
        }

        @Override
        public void write(WriteBuffer buffer, Object key) {
            if (!(key instanceof KeyValue values && values.stream().allMatch(IndexKeyType::isAscii))) {
                super.write(buffer, key);
                return;
            }
            buffer.put(OWN_FORMAT).putVarInt(values.size());
            for (Object value : values) strings.write(buffer, value);
        }

        @Override
        public Object read(ByteBuffer buffer) {
            if (buffer.get(buffer.position()) != OWN_FORMAT) return super.read(buffer);
            buffer.get();
            int size = DataUtils.readVarInt(buffer);
            List<Object> values = new ArrayList<>(size);
            for (int at = 0; at < size; at++) values.add(strings.read(buffer));
            return new KeyValue(values);
        }

        @Override
        public int getMemory(Object key) {
            if (!(key instanceof KeyValue values)) return super.getMemory(key);
            int bytes = 100;
            for (Object value : values) bytes += value instanceof String text ? 50 + text.length() : 200;
            return bytes;
        }

        private static boolean isAscii(Object value) {
            if (!(value instanceof String text) || text.length() > LONGEST_SHORT_STRING) return false;
            for (int at = 0; at < text.length(); at++) {
                if (text.charAt(at) == 0 || text.charAt(at) > 127) return false;
            }
            return true;
        }
    }
}
