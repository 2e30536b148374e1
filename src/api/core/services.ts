import type { Config } from '../../config.ts'
import type { Sql } from '../../db/sql.ts'
import type { PlayoutServices } from '../../playout/services.ts'
import type { Secrets } from '../../security/secrets.ts'
import type { CachedResponse } from '../../station/document.ts'
import type { StationState } from '../../station/state.ts'
import type { SendDeps } from '../../webhooks/deliveries/send.ts'
import type { Keys } from '../auth/keys.ts'
import type { LongPolls } from '../now-playing/long-polls.ts'
import type { HeavyReads } from './heavy-reads.ts'
import type { TokenBuckets } from './token-buckets.ts'

/** A rendering of a station: for the REST interface, for events, or as one line of text. */
export type DocumentKind = 'rest' | 'event' | 'line'

/** The now-playing documents and station states that a server keeps in memory. */
export interface LiveView {
  /** A station by id (all digits) or short name. */
  readonly get: (key: string) => StationState | undefined
  /** All stations, in id order. */
  readonly all: () => readonly StationState[]
  /** The current document of a station; undefined if it does not exist. */
  readonly document: (stationId: number, kind: DocumentKind) => CachedResponse | undefined
  /** The current document of a public station by id or short name; undefined for all others. */
  readonly publicDocument: (key: string, kind: DocumentKind) => CachedResponse | undefined
  /** The current documents of all public stations as one array. */
  readonly publicList: () => CachedResponse
  /** The current documents of these stations, without those that do not exist. */
  readonly list: (stationIds: readonly number[]) => CachedResponse
  /** Calls `listener` after every change of a station. Returns the function that unsubscribes it. */
  readonly onChange: (listener: (state: StationState) => void) => () => void
  /** Waits until this server has the last published state of a station. Never rejects. */
  readonly catchUp: (stationId: number) => Promise<void>
  /**
   * `isCurrent`: Redis accepts writes and was read within the last 5 seconds. `checkedAtMs`: when all states
   * were last known to equal those in Redis, in Unix milliseconds.
   */
  readonly health: () => {
    readonly isCurrent: boolean
    readonly checkedAtMs: number
    readonly stations: number
  }
}

/** The services that handlers of the API use. */
export interface ApiServices extends PlayoutServices {
  readonly config: Config
  /** Separate connections for reads, so that they do not wait for writes. */
  readonly reads: Sql
  /** Separate connections for reads of public routes, so that operators do not wait for them. */
  readonly publicReads: Sql
  readonly heavyReads: HeavyReads
  readonly live: LiveView
  readonly longPolls: LongPolls
  readonly keys: Keys
  readonly secrets: Secrets
  readonly webhookTests: WebhookTests
  /** Whether this server is shutting down. */
  readonly isDraining: () => boolean
}

/** The limits and dependencies of tests of web hooks. */
export interface WebhookTests {
  readonly parts: Pick<SendDeps, 'allowed' | 'mailer'>
  /** By API key. */
  readonly tokens: TokenBuckets
  /** The web hooks that this process is testing; a web hook is tested once at a time. */
  readonly inFlight: Set<number>
}
