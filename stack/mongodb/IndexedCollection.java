import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.bson.Document;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.h2.mvstore.MVMap;

/** A collection whose reads look only at the documents of one range of an index, if an index has such a range. */
final class IndexedCollection extends H2Collection {
    /** What a read did, for `explain`. `index` is null if it looked at all documents. */
    record Read(Document reply, long documentsExamined, Document index) {}

    private final MVMap<Object, Document> data;
    private final Map<String, Ordering> orderings = new LinkedHashMap<>();
    private final ReadPlanner planner;
    /** The leading `$match` and `$sort` of the pipeline that this thread runs. */
    private final ThreadLocal<Document> beginOfPipeline = new ThreadLocal<>();
    private long examined;
    private Document usedIndex;

    IndexedCollection(MongoDatabase database, String name, CollectionOptions options, MVMap<Object, Document> data,
            MVMap<String, Object> meta, CursorRegistry cursors) {
        super(database, name, options, data, meta, cursors);
        this.data = data;
        this.planner = new ReadPlanner(data, orderings.values(), this::fill);
    }

    synchronized void addOrdering(String name, List<IndexKey> fields) {
        orderings.computeIfAbsent(name, unknown -> new Ordering(fields, data.getKeyType()::compare));
    }

    @Override
    public synchronized void dropIndex(String name) {
        super.dropIndex(name);
        orderings.remove(name);
    }

    /** Runs a read alone, so that the counts are its own. */
    synchronized Read measure(Supplier<Document> read) {
        Document reply = read.get();
        return new Read(reply, examined, usedIndex);
    }

    /** Runs a pipeline, which otherwise would read the whole collection first. */
    Document runPipeline(List<?> pipeline, Supplier<Document> run) {
        Object match = stageOf(pipeline, 0, "$match");
        if (match == null) return run.get();
        Document begin = new Document("$query", match);
        begin.put("$orderby", stageOf(pipeline, 1, "$sort"));
        beginOfPipeline.set(begin);
        try {
            return run.get();
        } finally {
            beginOfPipeline.remove();
        }
    }

    private static Document stageOf(List<?> pipeline, int at, String name) {
        boolean isStage = at < pipeline.size() && pipeline.get(at) instanceof Document;
        return isStage && ((Document) pipeline.get(at)).get(name) instanceof Document value ? value : null;
    }

    @Override
    public Iterable<Document> queryAll() {
        Document begin = beginOfPipeline.get();
        return begin == null ? super.queryAll() : handleQuery(begin);
    }

    @Override
    protected synchronized QueryResult queryDocuments(Document query, Document orderBy, int skip, int limit,
            int batchSize, Document projection) {
        examined = 0;
        usedIndex = null;
        ReadPlanner.Plan plan = isServedByLibrary(query, orderBy) ? null : planner.planFor(query, orderBy);
        if (plan == null) return super.queryDocuments(query, orderBy, skip, limit, batchSize, projection);
        usedIndex = plan.index();
        Stream<Document> documents = streamOf(plan.positions()).map(this::getDocument).filter(Objects::nonNull);
        return matchDocumentsFromStream(query, documents, skip, limit, batchSize,
                plan.isInOrder() ? null : deriveComparator(orderBy), projection);
    }

    /** The library has a file for each unique index, which serves values of all its fields. */
    private boolean isServedByLibrary(Document query, Document orderBy) {
        if (!"_id".equals(getIdField()) || (orderBy != null && orderBy.containsKey("$natural"))) return true;
        return !query.containsKey("_id") && getIndexes().stream().anyMatch(index -> index.canHandle(query));
    }

    @Override
    protected QueryResult matchDocuments(Document query, Document orderBy, int skip, int limit, int batchSize,
            Document projection) {
        examined += count();
        return super.matchDocuments(query, orderBy, skip, limit, batchSize, projection);
    }

    @Override
    protected Document getDocument(Object position) {
        examined++;
        return super.getDocument(position);
    }

    /** An update changes the document that it found. Without a copy, a reply could contain half of it. */
    @Override
    protected QueryResult createQueryResult(List<Document> found, int batchSize) {
        return super.createQueryResult(found.stream().map(Document::clone).toList(), batchSize);
    }

    @Override
    protected Object addDocumentInternal(Document document) {
        Object position = super.addDocumentInternal(document);
        orderings.values().forEach(ordering -> ordering.add(position, document));
        return position;
    }

    @Override
    protected void handleUpdate(Object position, Document before, Document after) {
        orderings.values().forEach(ordering -> ordering.remove(position, before));
        super.handleUpdate(position, before, after);
        orderings.values().forEach(ordering -> ordering.add(position, after));
    }

    @Override
    protected void removeDocument(Object position) {
        Document removed = data.get(position);
        super.removeDocument(position);
        orderings.values().forEach(ordering -> ordering.remove(position, removed));
    }

    private void fill(Ordering ordering) {
        ordering.fill(add -> data.forEach(add));
    }

    private static <T> Stream<T> streamOf(Iterator<T> iterator) {
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(iterator, Spliterator.ORDERED), false);
    }
}
