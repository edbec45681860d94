/** Keeps what was made of a text, the least recently used first to go, bounded by the size of the texts. */
export class TextCache<Value> {
  private readonly entries = new Map<string, { value: Value; size: number }>();
  private size = 0;

  /** `maxSize` and the sizes given to {@link set} are in UTF-16 units. */
  constructor(private readonly maxSize: number) {}

  get(text: string): Value | undefined {
    const entry = this.entries.get(text);
    if (!entry) return undefined;
    this.entries.delete(text);
    this.entries.set(text, entry);
    return entry.value;
  }

  set(text: string, value: Value, size: number): void {
    this.size += size - (this.entries.get(text)?.size ?? 0);
    this.entries.delete(text);
    this.entries.set(text, { value, size });
    for (const [oldest, entry] of this.entries) {
      if (this.size <= this.maxSize) return;
      this.entries.delete(oldest);
      this.size -= entry.size;
    }
  }
}
