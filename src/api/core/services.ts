import type { Config } from '../../config.ts'
import type { Sql } from '../../db/sql.ts'
import type { PlayoutServices } from '../../playout/services.ts'
import type { Secrets } from '../../security/secrets.ts'
import type { CachedResponse } from '../../station/document.ts'
import type { StationState } from '../../station/state.ts'
import type { Keys } from '../auth/keys.ts'
import type { LongPolls } from '../now-playing/long-polls.ts'
import type { WebhookTests } from '../webhooks/test.ts'
import type { HeavyReads } from './heavy-reads.ts'

/** Which document of a station: the two renderings, or one line of text. */
export type DocumentKind = 'rest' | 'event' | 'line'

/** The now-playing documents and station states that a server keeps in memory. */
export interface LiveView {
  /** A station by id (all digits) or short name. */
  readonly get: (key: string) => StationState | undefined
  /** All stations, in id order. */
  readonly all: () => readonly StationState[]
  /** The document of a station's newest version, true at this second; undefined once the station is gone. */
  readonly document: (stationId: number, kind: DocumentKind) => CachedResponse | undefined
  /** The same of a public station by its id or short name; undefined for all others. */
  readonly publicDocument: (key: string, kind: DocumentKind) => CachedResponse | undefined
  /** The REST renderings of all public stations as one array, true at this second. */
  readonly publicList: () => CachedResponse
  /** The same of these stations, without those that are gone. */
  readonly list: (stationIds: readonly number[]) => CachedResponse
  /** Calls `listener` after every change of a station; gives the function that ends this. */
  readonly onChange: (listener: (state: StationState) => void) => () => void
  /** Makes sure that this server shows a station as it was published last, or no longer. Never rejects. */
  readonly catchUp: (stationId: number) => Promise<void>
  /**
   * `isCurrent`: Redis takes writes, and was looked at within the last 5 seconds. `checkedAtMs`: since then
   * every station is known to have been what Redis had, in Unix milliseconds.
   */
  readonly health: () => {
    readonly isCurrent: boolean
    readonly checkedAtMs: number
    readonly stations: number
  }
}

/** What the handlers of the API work with. */
export interface ApiServices extends PlayoutServices {
  readonly config: Config
  /** Connections of their own for reads, which then never wait for writes. */
  readonly reads: Sql
  /** The same for public routes, which operators then never wait for. */
  readonly publicReads: Sql
  readonly heavyReads: HeavyReads
  readonly live: LiveView
  readonly longPolls: LongPolls
  readonly keys: Keys
  readonly secrets: Secrets
  readonly webhookTests: WebhookTests
  /** Whether this server was told to stop. */
  readonly isDraining: () => boolean
}
