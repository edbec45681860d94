import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.bson.BsonRegularExpression;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a filter demands of fields in a form that an index can serve. A condition that is left out only makes a read
 * look at more documents, because the filter itself decides about each of them.
 */
final class Conditions {
    /** A bound is null if the range has none on this side. Both have the same type. */
    record Range(Object low, boolean withLow, Object high, boolean withHigh) {
        boolean isClosed() {
            return low != null && high != null;
        }
    }

    /** The values of which a field must have one. */
    final Map<String, List<Object>> points = new HashMap<>();
    final Map<String, Range> ranges = new HashMap<>();
    /** The branches of each `$or`. */
    final List<List<Document>> alternatives = new ArrayList<>();

    Conditions(Document... filters) {
        for (Document filter : filters) take(filter);
    }

    private void take(Document filter) {
        filter.forEach((field, value) -> {
            if (field.equals("$and")) documentsOf(value).forEach(this::take);
            else if (field.equals("$or")) alternatives.add(documentsOf(value));
            else if (!field.startsWith("$")) take(field, value);
        });
    }

    private void take(String field, Object value) {
        if (!(value instanceof Document operators)) {
            if (isPoint(value)) points.putIfAbsent(field, Collections.singletonList(plain(value)));
            return;
        }
        if (BsonRegularExpression.isRegularExpression(value)) return;
        operators.forEach((operator, operand) -> take(field, operator, operand));
    }

    private void take(String field, String operator, Object operand) {
        switch (operator) {
            case "$eq" -> {
                if (isPoint(operand)) points.putIfAbsent(field, Collections.singletonList(plain(operand)));
            }
            case "$in" -> {
                if (operand instanceof Collection<?> values && values.stream().allMatch(Conditions::isPoint)) {
                    List<Object> choices = new ArrayList<>();
                    for (Object value : values) choices.add(plain(value));
                    points.putIfAbsent(field, choices);
                }
            }
            case "$gt", "$gte" -> narrow(field, new Range(operand, operator.equals("$gte"), null, false));
            case "$lt", "$lte" -> narrow(field, new Range(null, false, operand, operator.equals("$lte")));
            default -> {
            }
        }
    }

    /** Adds a bound on a side that has none yet. */
    private void narrow(String field, Range added) {
        Object bound = added.low == null ? added.high : added.low;
        if (bound == null || bound instanceof Missing || !Ordering.hasPlace(bound)) return;
        Range known = ranges.putIfAbsent(field, added);
        if (known == null || known.isClosed()) return;
        Object other = known.low == null ? known.high : known.low;
        if (!isOneType(bound, other)) return;
        if (known.low == null && added.low != null) {
            ranges.put(field, new Range(added.low, added.withLow, known.high, known.withHigh));
        } else if (known.high == null && added.high != null) {
            ranges.put(field, new Range(known.low, known.withLow, added.high, added.withHigh));
        }
    }

    private static boolean isOneType(Object a, Object b) {
        return a.getClass() == b.getClass() || (a instanceof Number && b instanceof Number);
    }

    private static boolean isPoint(Object value) {
        return Ordering.hasPlace(plain(value));
    }

    private static Object plain(Object value) {
        return value instanceof Missing ? null : value;
    }

    private static List<Document> documentsOf(Object value) {
        List<Document> documents = new ArrayList<>();
        if (value instanceof Collection<?> list) {
            for (Object each : list) if (each instanceof Document document) documents.add(document);
        }
        return documents;
    }
}
