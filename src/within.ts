/** Returns the result of `work`, or rejects with `late()` after `ms`. Does not stop the work. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}
