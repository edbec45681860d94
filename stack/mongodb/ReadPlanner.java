import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.h2.mvstore.MVMap;

/** Chooses the documents that a read looks at. */
final class ReadPlanner {
    /** The positions of all documents that can match, each once. */
    record Plan(Iterator<Object> positions, boolean isInOrder, Document index) {}

    /** The leading fields of `ordering` that have values, and whether the rest of it is the order of the read. */
    private record Choice(Ordering ordering, int covered, boolean isInOrder, boolean isBackwards, boolean hasRange) {}

    private static final Comparator<Choice> BEST = Comparator.comparingInt(Choice::covered)
            .thenComparing(Choice::isInOrder).thenComparing(Choice::hasRange);
    /** The most ranges of one index that a read combines. */
    private static final int MOST_RANGES = 1_000;

    private final MVMap<Object, Document> data;
    private final Collection<Ordering> orderings;
    private final Consumer<Ordering> fill;

    ReadPlanner(MVMap<Object, Document> data, Collection<Ordering> orderings, Consumer<Ordering> fill) {
        this.data = data;
        this.orderings = orderings;
        this.fill = fill;
    }

    /** Null if the read must look at all documents. */
    Plan planFor(Document filter, Document orderBy) {
        return planFor(new Conditions(filter), filter, orderBy == null ? new Document() : orderBy);
    }

    private Plan planFor(Conditions conditions, Document filter, Document orderBy) {
        List<Object> ids = conditions.points.get("_id");
        if (ids != null) {
            boolean areStrings = ids.stream().allMatch(String.class::isInstance);
            return areStrings ? inOrderOfPositions(ids, orderBy, List.of("_id")) : null;
        }
        Conditions.Range range = hasOnlyStrings() ? conditions.ranges.get("_id") : null;
        if (range != null && !(range.low() instanceof String || range.high() instanceof String)) range = null;
        if (range != null && range.isClosed()) return byId(range, orderBy);
        Choice choice = bestOf(conditions, orderBy);
        if (choice != null && choice.covered > 0) return planOf(choice, conditions, orderBy);
        Plan alternatives = planForAlternatives(conditions, filter, orderBy);
        if (alternatives != null) return alternatives;
        if (range != null) return byId(range, orderBy);
        if (choice != null && (choice.isInOrder || choice.hasRange)) return planOf(choice, conditions, orderBy);
        return orderOfIds(orderBy) != 0 && hasOnlyStrings() ? byId(null, orderBy) : null;
    }

    /** The positions of each branch of an `$or`, if an index serves all branches. */
    private Plan planForAlternatives(Conditions conditions, Document filter, Document orderBy) {
        for (List<Document> branches : conditions.alternatives) {
            List<Object> positions = new ArrayList<>();
            List<String> fields = new ArrayList<>();
            for (Document branch : branches) {
                Conditions both = new Conditions(filter, branch);
                both.alternatives.clear();
                Plan plan = planFor(both, filter, new Document());
                if (plan == null) break;
                plan.positions.forEachRemaining(positions::add);
                fields.addAll(plan.index.keySet());
                if (branch == branches.get(branches.size() - 1)) return inOrderOfPositions(positions, orderBy, fields);
            }
        }
        return null;
    }

    private Plan inOrderOfPositions(Collection<Object> positions, Document orderBy, List<String> fields) {
        TreeSet<Object> sorted = new TreeSet<>(data.getKeyType()::compare);
        sorted.addAll(positions);
        Document index = new Document();
        fields.forEach(field -> index.put(field, 1));
        return new Plan(sorted.iterator(), orderBy.isEmpty(), index);
    }

    /** Strings are next to each other among the keys, in their order. */
    private boolean hasOnlyStrings() {
        return data.firstKey() instanceof String && data.lastKey() instanceof String;
    }

    private Plan byId(Conditions.Range range, Document orderBy) {
        int order = orderOfIds(orderBy);
        Object low = range == null ? null : range.low();
        Object high = range == null ? null : range.high();
        boolean isEmpty = low != null && high != null && low.toString().compareTo(high.toString()) > 0;
        boolean isBackwards = order < 0;
        Iterator<Object> ids = isEmpty ? List.of().iterator()
                : isBackwards ? data.cursor(high, low, true) : data.cursor(low, high, false);
        return new Plan(ids, orderBy.isEmpty() || order != 0, new Document("_id", 1));
    }

    /** 1 or -1 if the order begins with `_id`, and 0 otherwise. */
    private static int orderOfIds(Document orderBy) {
        if (orderBy.isEmpty() || !orderBy.keySet().iterator().next().equals("_id")) return 0;
        return directionOf(orderBy, "_id");
    }

    private static int directionOf(Document orderBy, String field) {
        return orderBy.get(field) instanceof Number number ? Integer.signum(number.intValue()) : 0;
    }

    private Choice bestOf(Conditions conditions, Document orderBy) {
        List<Choice> choices = new ArrayList<>();
        for (Ordering ordering : orderings) choices.add(choiceOf(ordering, conditions, orderBy));
        choices.sort(BEST.reversed());
        for (Choice choice : choices) {
            if (choice.covered == 0 && !choice.isInOrder && !choice.hasRange) return null;
            Ordering ordering = choice.ordering;
            if (!ordering.isFilled()) fill.accept(ordering);
            if (!ordering.isComplete()) continue;
            if (!ordering.hasArrays()) return choice;
            // A document with several entries is at several places, and a range can begin and end between them.
            if (choice.covered > 0 && !hasNull(conditions, choice)) {
                return new Choice(ordering, choice.covered, false, false, false);
            }
        }
        return null;
    }

    private static boolean hasNull(Conditions conditions, Choice choice) {
        return choice.ordering.fields.subList(0, choice.covered).stream()
                .anyMatch(field -> conditions.points.get(field.getKey()).contains(null));
    }

    private static Choice choiceOf(Ordering ordering, Conditions conditions, Document orderBy) {
        List<IndexKey> fields = ordering.fields;
        int covered = 0;
        int ranges = 1;
        for (; covered < fields.size(); covered++) {
            List<Object> values = conditions.points.get(fields.get(covered).getKey());
            if (values == null || ranges * Math.max(1, values.size()) > MOST_RANGES) break;
            ranges *= Math.max(1, values.size());
        }
        boolean hasRange = covered < fields.size() && conditions.ranges.containsKey(fields.get(covered).getKey());
        int direction = directionOf(fields.subList(covered, fields.size()), conditions.points, orderBy);
        return new Choice(ordering, covered, direction != 0, direction < 0, hasRange);
    }

    /** 1 or -1 if `fields` are in the order of the read, forwards or backwards, and 0 otherwise. */
    private static int directionOf(List<IndexKey> fields, Map<String, List<Object>> points, Document orderBy) {
        int direction = 0;
        int at = 0;
        for (String field : orderBy.keySet()) {
            List<Object> values = points.get(field);
            if (values != null && values.size() == 1) continue;
            if (at >= fields.size() || !fields.get(at).getKey().equals(field)) return 0;
            int own = directionOf(orderBy, field) * (fields.get(at).isAscending() ? 1 : -1);
            if (own == 0 || (direction != 0 && own != direction)) return 0;
            direction = own;
            at++;
        }
        return orderBy.isEmpty() ? 0 : direction == 0 ? 1 : direction;
    }

    private Plan planOf(Choice choice, Conditions conditions, Document orderBy) {
        Ordering ordering = choice.ordering;
        List<Object[]> prefixes = new ArrayList<>(List.<Object[]>of(new Object[0]));
        for (IndexKey field : ordering.fields.subList(0, choice.covered)) {
            prefixes = extended(prefixes, conditions.points.get(field.getKey()));
        }
        List<Iterator<Ordering.Entry>> parts = new ArrayList<>();
        for (Object[] prefix : prefixes) {
            Conditions.Range range = choice.hasRange
                    ? conditions.ranges.get(ordering.fields.get(choice.covered).getKey()) : null;
            parts.add(read(choice, prefix, range));
        }
        Document index = new Document();
        ordering.fields.forEach(field -> index.put(field.getKey(), field.isAscending() ? 1 : -1));
        if (choice.isInOrder) return new Plan(merged(parts, choice), true, index);
        List<Object> positions = new ArrayList<>();
        parts.forEach(part -> part.forEachRemaining(entry -> positions.add(entry.position())));
        return new Plan(inOrderOfPositions(positions, orderBy, List.of()).positions, orderBy.isEmpty(), index);
    }

    private static List<Object[]> extended(List<Object[]> prefixes, List<Object> values) {
        List<Object[]> longer = new ArrayList<>();
        TreeSet<Object> distinct = new TreeSet<>(Ordering::compareValues);
        distinct.addAll(values);
        for (Object[] prefix : prefixes) {
            for (Object value : distinct) longer.add(with(prefix, value));
        }
        return longer;
    }

    private static Object[] with(Object[] prefix, Object value) {
        Object[] longer = Arrays.copyOf(prefix, prefix.length + 1);
        longer[prefix.length] = value;
        return longer;
    }

    private static Iterator<Ordering.Entry> read(Choice choice, Object[] prefix, Conditions.Range range) {
        Ordering ordering = choice.ordering;
        Ordering.Entry from = new Ordering.Entry(prefix, null, -1);
        Ordering.Entry to = new Ordering.Entry(prefix, null, 1);
        if (range != null) {
            boolean isAscending = ordering.fields.get(prefix.length).isAscending();
            Object low = range.low() == null ? new Ordering.Edge(range.high(), -1) : range.low();
            Object high = range.high() == null ? new Ordering.Edge(range.low(), 1) : range.high();
            from = new Ordering.Entry(with(prefix, isAscending ? low : high), null,
                    (isAscending ? range.withLow() : range.withHigh()) ? -1 : 1);
            to = new Ordering.Entry(with(prefix, isAscending ? high : low), null,
                    (isAscending ? range.withHigh() : range.withLow()) ? 1 : -1);
            if (ordering.compare(from, to, 0) > 0) return List.<Ordering.Entry>of().iterator();
        }
        return ordering.between(from, to, choice.isBackwards);
    }

    /** Reads several ranges as one in the order of the fields after the covered ones. */
    private static Iterator<Object> merged(List<Iterator<Ordering.Entry>> parts, Choice choice) {
        record Head(Ordering.Entry entry, Iterator<Ordering.Entry> rest) {}
        int sign = choice.isBackwards ? -1 : 1;
        PriorityQueue<Head> heads = new PriorityQueue<>(
                (a, b) -> sign * choice.ordering.compare(a.entry, b.entry, choice.covered));
        for (Iterator<Ordering.Entry> part : parts) if (part.hasNext()) heads.add(new Head(part.next(), part));
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return !heads.isEmpty();
            }

            @Override
            public Object next() {
                Head head = heads.remove();
                if (head.rest.hasNext()) heads.add(new Head(head.rest.next(), head.rest));
                return head.entry.position();
            }
        };
    }
}
