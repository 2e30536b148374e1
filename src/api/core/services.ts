import type { EngineServices } from '../../engine/services.ts'
import type { LiveView } from '../../model/station/live-view.ts'
import type { StationRenderer } from '../../model/station/renderer.ts'
import type { ReadConnectedListeners } from '../../radio/connected-listeners.ts'
import type { SettingsReader } from '../../stores/db/installation-settings.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import type { SendDeps } from '../../webhooks/deliveries/send.ts'
import type { KeyChecker } from '../auth/key-checker.ts'
import type { ListenTokens } from '../auth/listen-tokens.ts'
import type { LongPolls } from '../now-playing/long-polls.ts'
import type { SongLinks } from '../playout/song-links.ts'
import type { HeavyReads } from './heavy-reads.ts'
import type { ApiSettings } from './settings.ts'
import type { TokenBuckets } from './token-buckets.ts'

/** The settings of the installation, as pages show them. */
export type PageSettings = Awaited<ReturnType<SettingsReader['read']>>

/** The services that handlers of the API use. */
export interface ApiServices extends EngineServices {
  readonly config: ApiSettings
  /** Identifies the installation to `npm run doctor`. */
  readonly installationId: string
  /** Separate connections for reads, so that they do not wait for writes. */
  readonly reads: Sql
  /** Separate connections for reads of public routes, so that operators do not wait for them. */
  readonly publicReads: Sql
  readonly heavyReads: HeavyReads
  readonly live: LiveView
  /** That of the installation. */
  readonly renderer: StationRenderer
  readonly longPolls: LongPolls
  readonly keys: KeyChecker
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
