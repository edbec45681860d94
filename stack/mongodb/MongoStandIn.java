import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;
import java.util.List;
import org.h2.mvstore.MVStore;

/** Speaks MongoDB's wire protocol over one H2 file. Arguments: data file, loopback port. */
public final class MongoStandIn {
    private static final int WIRE_VERSION_THE_DRIVER_ASKS_FOR = 9;
    private static final int COMMIT_DELAY_MS = 50;
    /** Documents outside the cache are deserialized at each read, which takes most of the time of a large store. */
    private static final int CACHE_MIB = 256;

    public static void main(String[] arguments) {
        MVStore store = new MVStore.Builder().fileName(arguments[0]).cacheSize(CACHE_MIB).open();
        store.setAutoCommitDelay(COMMIT_DELAY_MS);
        MongoServer server = new MongoServer(new DriverCompatibleBackend(store));
        // Closing the server closes its backend, and with it the store.
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind("127.0.0.1", Integer.parseInt(arguments[1]));
    }

    private static final class DriverCompatibleBackend extends H2Backend {
        DriverCompatibleBackend(MVStore store) {
            super(store);
        }

        @Override
        protected MongoDatabase openOrCreateDatabase(String databaseName) {
            MVStore store = getMvStore();
            return new H2Database(databaseName, store, getCursorRegistry()) {
                @Override
                protected MongoCollection<Object> openOrCreateCollection(String name, CollectionOptions options) {
                    String fullName = getFullCollectionNamespace(name);
                    return new H2Collection(this, name, options, store.openMap("databases." + fullName),
                            store.openMap("meta." + fullName), cursorRegistry) {
                        /** An update changes the document that it found. Without a copy, a reply could contain half of it. */
                        @Override
                        protected QueryResult createQueryResult(List<Document> found, int batchSize) {
                            return super.createQueryResult(found.stream().map(Document::clone).toList(), batchSize);
                        }
                    };
                }
            };
        }

        @Override
        public Document handleCommand(Channel channel, String database, String command, Document query) {
            Document reply = super.handleCommand(channel, database, command, query);
            if (reply != null && reply.containsKey("maxWireVersion")) {
                reply.put("maxWireVersion", WIRE_VERSION_THE_DRIVER_ASKS_FOR);
            }
            return reply;
        }
    }
}
