import type { Violation } from './violation.ts'

/**
 * The result of a write. `unknown`: there was no response, or a 5xx, so the write may have been committed.
 */
export type WriteOutcome = 'accepted' | 'refused' | 'unknown'

/** The outcome for a status; 0 means no response. */
export function outcomeOfStatus(status: number): WriteOutcome {
  if (status >= 200 && status < 300) return 'accepted'
  return status >= 400 && status < 500 ? 'refused' : 'unknown'
}

/** A value that a single operator writes, one write after the other. */
export interface Register {
  readonly stationId: number
  readonly name: string
  /** Begins a write. The returned function records its outcome. */
  readonly write: (value: string) => (outcome: WriteOutcome) => void
  /** The store has lost data: any value may be stored until a write that began later is accepted. */
  readonly acceptAnyValue: () => void
  /** Checks the stored value. */
  readonly judge: (stored: string) => Violation[]
}

/** The number of writes without a response that may still be committed. */
const unknownKept = 20

/**
 * A register must contain the last accepted value, or one with an unknown outcome, which may be committed
 * late, even after later writes. A refused value must not be stored.
 */
export function openRegister(stationId: number, name: string, initial: string): Register {
  let accepted: string | null = initial
  let unknown: string[] = []
  let losses = 0
  return {
    stationId,
    name,
    write: value => {
      const lossesBefore = losses
      return outcome => {
        if (outcome === 'accepted' && losses === lossesBefore) accepted = value
        // A value that was accepted during the loss may be lost.
        else if (outcome !== 'refused') unknown = [...unknown, value].slice(-unknownKept)
      }
    },
    acceptAnyValue: () => {
      losses++
      accepted = null
    },
    judge: stored => {
      if (accepted === null || stored === accepted || unknown.includes(stored)) return []
      const detail = `${name} is "${stored}"; the last accepted value is "${accepted}"${
        unknown.length === 0 ? '' : `, without a response: ${unknown.map(each => `"${each}"`).join(', ')}`
      }`
      return [{ rule: 'an accepted write is stored', stationId, detail }]
    }
  }
}

/** Records that a single operator creates and deletes. */
export interface RecordSet {
  readonly stationId: number
  readonly name: string
  readonly created: (key: string, outcome: WriteOutcome) => void
  readonly removed: (key: string, outcome: WriteOutcome) => void
  /** Forgets the existing records, which something else may have removed. */
  readonly forget: () => void
  /**
   * Checks the stored keys, which may include unknown ones. `live` are the keys of records that are not
   * marked as removed.
   */
  readonly judge: (keys: readonly string[], live?: readonly string[]) => Violation[]
}

/**
 * An accepted record must be stored once until its removal was attempted; a refused one must not be stored.
 */
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
          .map(key => report('an accepted write is stored', `${name} ${key} was accepted and is missing`)),
        ...[...absent]
          .filter(key => alive.has(key))
          .map(key =>
            report('a refused write is not stored', `${name} ${key} was refused or removed and is stored`)
          ),
        ...keys
          .filter((key, index) => keys.indexOf(key) !== index)
          .map(key => report('an accepted write is stored once', `${name} ${key} is stored twice`))
      ]
    }
  }
}
