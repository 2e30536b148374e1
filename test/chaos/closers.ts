/** What was opened, to be closed in reverse. */
export interface Closers extends AsyncDisposable {
  readonly add: <Item extends AsyncDisposable>(item: Item) => Item
  readonly defer: (close: () => PromiseLike<unknown> | void) => void
}

/**
 * Opens an empty list. What fails to close does not keep the rest from being closed; the first reason is
 * thrown at the end.
 */
export function openClosers(): Closers {
  const closers: (() => PromiseLike<unknown> | void)[] = []
  return {
    add: item => {
      closers.push(() => item[Symbol.asyncDispose]())
      return item
    },
    defer: close => void closers.push(close),
    [Symbol.asyncDispose]: async () => {
      const reasons: unknown[] = []
      for (let close = closers.pop(); close; close = closers.pop()) {
        try {
          await close()
        } catch (error) {
          reasons.push(error)
        }
      }
      if (reasons.length > 0) throw reasons[0]
    }
  }
}
