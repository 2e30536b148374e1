import type { ReadConnectedListeners } from '../../broadcast/connected-listeners.ts'
import type { Config } from '../../config.ts'
import type { SettingsReader } from '../../db/installation-settings.ts'
import type { Sql } from '../../db/sql.ts'
import type { PlayoutServices } from '../../playout/services.ts'
import type { ListenTokens } from '../../security/listen-tokens.ts'
import type { Secrets } from '../../security/secrets.ts'
import type { SongLinks } from '../../security/song-links.ts'
import type { LiveView } from '../../station/live-view.ts'
import type { SendDeps } from '../../webhooks/deliveries/send.ts'
import type { Keys } from '../auth/keys.ts'
import type { LongPolls } from '../now-playing/long-polls.ts'
import type { HeavyReads } from './heavy-reads.ts'
import type { TokenBuckets } from './token-buckets.ts'

/** The settings of the installation, as pages show them. */
export type ShownSettings = Awaited<ReturnType<SettingsReader['read']>>

/** The services that handlers of the API use. */
export interface ApiServices extends PlayoutServices {
  readonly config: Config
  /** Identifies the installation to `npm run doctor`. */
  readonly installationId: string
  /** Separate connections for reads, so that they do not wait for writes. */
  readonly reads: Sql
  /** Separate connections for reads of public routes, so that operators do not wait for them. */
  readonly publicReads: Sql
  readonly heavyReads: HeavyReads
  readonly live: LiveView
  readonly longPolls: LongPolls
  readonly keys: Keys
  readonly secrets: Secrets
  readonly listenTokens: ListenTokens
  readonly songLinks: SongLinks
  /** The settings of the installation, as this process last read them. */
  readonly settings: SettingsReader
  readonly connectedListeners: ReadConnectedListeners
  readonly webhookTests: WebhookTestDeps
  /** Whether this server is shutting down. */
  readonly isDraining: () => boolean
}

/** The limits and dependencies of tests of web hooks. */
export interface WebhookTestDeps {
  readonly parts: Pick<SendDeps, 'allowed' | 'mailer'>
  /** By API key. */
  readonly tokens: TokenBuckets
  /** The web hooks that this process is testing; a web hook is tested once at a time. */
  readonly inFlight: Set<number>
}
