/** The newest items of a list that grows at its end, each with a position. Keeps at most about a million characters. */
export interface Tail<P, T> {
  /** The position of the newest item. */
  readonly last: P;
  /** Adds an item. If there are too many, drops the oldest ones, but none after the position `forgettable`. */
  add(item: T, forgettable: P): void;
  /** The items after a position. Undefined if some of them are forgotten. */
  after(position: P): readonly T[] | undefined;
}

const maxItems = 500;
const maxCharacters = 1024 * 1024;

/** An empty tail after the position `from`. */
export function createTail<P extends number | string, T>(from: P, positionOf: (item: T) => P): Tail<P, T> {
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
    get last() {
      return last;
    },
    add(item, forgettable) {
      const size = JSON.stringify(item).length;
      items.push({ item, size });
      characters += size;
      last = positionOf(item);
      forgetOldest(forgettable);
    },
    after(position) {
      if (position < before) return undefined;
      const known = items.findLastIndex(({ item }) => positionOf(item) <= position);
      return items.slice(known + 1).map(({ item }) => item);
    },
  };
}
