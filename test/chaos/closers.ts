/** Opened resources, closed in reverse order. */
export interface Closers extends AsyncDisposable {
  readonly add: <Item extends AsyncDisposable>(item: Item) => Item
  readonly defer: (close: () => PromiseLike<unknown> | void) => void
}

/**
 * Opens an empty list. If a resource fails to close, the others are closed, and then the first error is
 * thrown.
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
