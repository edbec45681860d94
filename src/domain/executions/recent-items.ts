const maxItems = 500;
const maxCharacters = 1024 * 1024;

/**
 * The newest items of a list that grows at its end, each with a position. Keeps at most about a million characters. Begins
 * empty, after the position `from`.
 */
export function createRecentItems<P extends number | string, T>(from: P, positionOf: (item: T) => P) {
  let before = from;
  let last = from;
  let characters = 0;
  const items: { item: T; size: number }[] = [];
  const forgetOldest = (forgettable: P) => {
    for (let [first] = items; first && isFull() && positionOf(first.item) <= forgettable; [first] = items) {
      items.shift();
      characters -= first.size;
      before = positionOf(first.item);
    }
  };
  const isFull = () => items.length > maxItems || (items.length > 1 && characters > maxCharacters);
  return {
    /** The position of the newest item. */
    get last(): P {
      return last;
    },
    /** Adds an item. If there are too many, drops the oldest ones, but none after the position `forgettable`. */
    add(item: T, forgettable: P): void {
      const size = JSON.stringify(item).length;
      items.push({ item, size });
      characters += size;
      last = positionOf(item);
      forgetOldest(forgettable);
    },
    /** The items after a position. Undefined if some of them are forgotten. */
    after(position: P): readonly T[] | undefined {
      if (position < before) return undefined;
      const known = items.findLastIndex(({ item }) => positionOf(item) <= position);
      return items.slice(known + 1).map(({ item }) => item);
    },
  };
}
