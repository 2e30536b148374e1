import type { Violation } from './violation.ts'

/**
 * How a write was answered. `unknown`: there was no answer, or one of 5xx, so that it may have been
 * committed.
 */
export type WriteOutcome = 'accepted' | 'refused' | 'unknown'

/** How a status counts; 0 where there was no answer. */
export function outcomeOfStatus(status: number): WriteOutcome {
  if (status >= 200 && status < 300) return 'accepted'
  return status >= 400 && status < 500 ? 'refused' : 'unknown'
}

/** A value that one operator alone writes, one write after the other. */
export interface Register {
  readonly stationId: number
  readonly name: string
  /** Takes a write in whose answer is known by now. */
  readonly wrote: (value: string, outcome: WriteOutcome) => void
  /** Judges the value that is stored. */
  readonly judge: (stored: string) => Violation[]
}

/** Writes without an answer that may still be committed. */
const unknownKept = 20

/**
 * A register holds the value that was accepted last, or one whose answer never came: that may be committed
 * late, even after later writes. A refused value is never stored.
 */
export function openRegister(stationId: number, name: string, initial: string): Register {
  let accepted = initial
  let unknown: string[] = []
  return {
    stationId,
    name,
    wrote: (value, outcome) => {
      if (outcome === 'accepted') accepted = value
      if (outcome === 'unknown') unknown = [...unknown, value].slice(-unknownKept)
    },
    judge: stored => {
      if (stored === accepted || unknown.includes(stored)) return []
      const detail = `${name} is "${stored}"; accepted last was "${accepted}"${
        unknown.length === 0 ? '' : `, without an answer were ${unknown.map(each => `"${each}"`).join(', ')}`
      }`
      return [{ rule: 'an accepted write is there', stationId, detail }]
    }
  }
}

/** Records that one operator alone creates and deletes. */
export interface RecordSet {
  readonly stationId: number
  readonly name: string
  readonly created: (key: string, outcome: WriteOutcome) => void
  readonly removed: (key: string, outcome: WriteOutcome) => void
  /** From now on nothing is known of the records that exist: something else may have removed them. */
  readonly forget: () => void
  /**
   * Judges the keys that are stored, which may include others that this set never heard of. `live`: those of
   * records that are not marked as removed.
   */
  readonly judge: (keys: readonly string[], live?: readonly string[]) => Violation[]
}

/** An accepted record is there until its removal was tried; a refused one never is, and none twice. */
export function openRecordSet(stationId: number, name: string): RecordSet {
  const present = new Set<string>()
  const absent = new Set<string>()
  return {
    stationId,
    name,
    created: (key, outcome) => {
      if (outcome === 'accepted') present.add(key)
      if (outcome === 'refused') absent.add(key)
    },
    removed: (key, outcome) => {
      if (outcome === 'refused') return
      present.delete(key)
      if (outcome === 'accepted') absent.add(key)
    },
    forget: () => {
      present.clear()
    },
    judge: (keys, live = keys) => {
      const stored = new Set(keys)
      const alive = new Set(live)
      const report = (rule: string, detail: string): Violation => ({ rule, stationId, detail })
      return [
        ...[...present]
          .filter(key => !stored.has(key))
          .map(key => report('an accepted write is there', `${name} ${key} was accepted and is missing`)),
        ...[...absent]
          .filter(key => alive.has(key))
          .map(key =>
            report('a refused write left nothing', `${name} ${key} was refused or removed and is there`)
          ),
        ...keys
          .filter((key, index) => keys.indexOf(key) !== index)
          .map(key => report('an accepted write is there once', `${name} ${key} is there twice`))
      ]
    }
  }
}
