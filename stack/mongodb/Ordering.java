import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.bson.ObjectId;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The documents of a collection in the order of one index. It is in memory, and filled by the first read that needs it.
 * A document that lacks a field has null there, even in a sparse index, so every document has an entry.
 */
final class Ordering {
    /** One document. A probe has fewer values, and is before (-1) or after (1) all entries that begin with them. */
    record Entry(Object[] values, Object position, int side) {}

    /** Before or after all values of the type of `value`. */
    record Edge(Object value, int side) {}

    final List<IndexKey> fields;
    private final Comparator<Object> byPosition;
    private NavigableSet<Entry> entries;
    private int withArrays;
    private int withoutOrder;

    Ordering(List<IndexKey> fields, Comparator<Object> byPosition) {
        this.fields = List.copyOf(fields);
        this.byPosition = byPosition;
    }

    boolean isFilled() {
        return entries != null;
    }

    void fill(Consumer<BiConsumer<Object, Document>> eachDocument) {
        entries = new TreeSet<>((a, b) -> compare(a, b, 0));
        eachDocument.accept(this::add);
    }

    void add(Object position, Document document) {
        if (isFilled()) change(position, document, 1);
    }

    void remove(Object position, Document document) {
        if (isFilled()) change(position, document, -1);
    }

    /** Whether a read finds every document here: no document has a value, such as an object, that has no place. */
    boolean isComplete() {
        return withoutOrder == 0;
    }

    /** A document with an array has one entry for each element, as in MongoDB. */
    boolean hasArrays() {
        return withArrays > 0;
    }

    Iterator<Entry> between(Entry from, Entry to, boolean backwards) {
        NavigableSet<Entry> part = entries.subSet(from, true, to, true);
        return backwards ? part.descendingIterator() : part.iterator();
    }

    /** Compares the values from the field `first` on, and then the positions. */
    int compare(Entry a, Entry b, int first) {
        int shared = Math.min(a.values.length, b.values.length);
        for (int at = first; at < shared; at++) {
            int order = compareValues(a.values[at], b.values[at]);
            if (order != 0) return fields.get(at).isAscending() ? order : -order;
        }
        if (a.side != 0 || b.side != 0) return a.side - b.side;
        return byPosition.compare(a.position, b.position);
    }

    private void change(Object position, Document document, int difference) {
        Object[] values = new Object[fields.size()];
        int arrayAt = -1;
        boolean hasPlace = true;
        for (int at = 0; at < values.length; at++) {
            values[at] = plain(Utils.getSubdocumentValueCollectionAware(document, fields.get(at).getKey()));
            if (values[at] instanceof Collection) {
                hasPlace = hasPlace && arrayAt < 0;
                arrayAt = at;
            } else {
                hasPlace = hasPlace && hasPlace(values[at]);
            }
        }
        List<Object[]> keys = arrayAt < 0 || !hasPlace ? List.<Object[]>of(values) : eachElement(values, arrayAt);
        if (!hasPlace || keys == null) {
            withoutOrder += difference;
            return;
        }
        if (arrayAt >= 0) withArrays += difference;
        for (Object[] key : keys) {
            Entry entry = new Entry(key, position, 0);
            if (difference > 0) entries.add(entry);
            else entries.remove(entry);
        }
    }

    /** Null if an element has no place. An empty array has the place of null. */
    private static List<Object[]> eachElement(Object[] values, int arrayAt) {
        Collection<?> array = (Collection<?>) values[arrayAt];
        List<Object[]> keys = new ArrayList<>();
        for (Object element : array.isEmpty() ? Collections.singletonList(null) : array) {
            Object[] key = values.clone();
            key[arrayAt] = plain(element);
            if (!hasPlace(key[arrayAt])) return null;
            keys.add(key);
        }
        return keys;
    }

    private static Object plain(Object value) {
        return value instanceof Missing ? null : value;
    }

    static boolean hasPlace(Object value) {
        return typeOf(value) >= 0;
    }

    /** The order of types in MongoDB; -1 for a type that has no place in an ordering. */
    private static int typeOf(Object value) {
        if (value == null) return 0;
        if (value instanceof Edge edge) return typeOf(edge.value);
        if (value instanceof Integer || value instanceof Long || value instanceof Double) return 1;
        if (value instanceof String) return 2;
        if (value instanceof ObjectId) return 3;
        if (value instanceof Boolean) return 4;
        if (value instanceof Instant) return 5;
        return -1;
    }

    static int compareValues(Object a, Object b) {
        int type = typeOf(a);
        int order = Integer.compare(type, typeOf(b));
        if (order != 0) return order;
        if (a instanceof Edge || b instanceof Edge) return sideOf(a) - sideOf(b);
        return switch (type) {
            case 0 -> 0;
            case 1 -> compareNumbers((Number) a, (Number) b);
            case 2 -> ((String) a).compareTo((String) b);
            case 3 -> ((ObjectId) a).compareTo((ObjectId) b);
            case 4 -> Boolean.compare((Boolean) a, (Boolean) b);
            default -> ((Instant) a).compareTo((Instant) b);
        };
    }

    private static int sideOf(Object value) {
        return value instanceof Edge edge ? edge.side : 0;
    }

    /** Integers of the same double are compared exactly; 0.0 and -0.0 are equal. */
    private static int compareNumbers(Number a, Number b) {
        double one = a.doubleValue() + 0.0;
        double other = b.doubleValue() + 0.0;
        int order = Double.compare(one, other);
        if (order != 0 || Math.abs(one) < 0x1p53 || !Double.isFinite(one)) return order;
        return exactly(a).compareTo(exactly(b));
    }

    private static BigDecimal exactly(Number number) {
        return number instanceof Double ? new BigDecimal(number.doubleValue()) : BigDecimal.valueOf(number.longValue());
    }
}
