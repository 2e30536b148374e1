import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Creates and deletes folders with 40 files of one byte each in `folder`, repeatedly, until it is disposed.
 * Disposal throws its errors. `cycles` is the number of completed rounds.
 */
export function startChurn(folder: string): AsyncDisposable & { readonly cycles: () => number } {
  const life = new AbortController()
  let cycles = 0
  const churn = async (): Promise<void> => {
    while (!life.signal.aborted) {
      const names = Array.from({ length: 20 }, (_, at) => join(folder, `${at % 10}`, `${at}`))
      await Promise.all(names.map(async name => mkdir(name, { recursive: true })))
      await Promise.all(names.map(async name => writeFile(join(name, 'x'), 'x')))
      await Promise.all(names.map(async name => writeFile(`${name}.y`, 'y')))
      await rm(folder, { recursive: true })
      cycles++
    }
  }
  const churning = churn()
  return {
    cycles: () => cycles,
    [Symbol.asyncDispose]: async () => {
      life.abort()
      await churning
    }
  }
}
