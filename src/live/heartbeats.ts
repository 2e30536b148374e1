import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { visitInTimeSlices } from '../platform/runtime/time-slices.ts'
import { applyDuePublications, type Channels } from './channels.ts'
import type { FanOut } from './fan-out.ts'
import { pingFrame } from './frames.ts'
import { channelBurst, channelsPerSecond, type DisconnectReason, timeChannel } from './protocol.ts'
import type { Publications } from './publications.ts'
import { sendUnlessBehind } from './sender.ts'
import type { Channel, LiveSession, Subscription } from './session.ts'

interface HeartbeatOptions {
  readonly sessions: ReadonlySet<LiveSession>
  readonly channels: Channels
  readonly fanOut: Pick<FanOut, 'publish'>
  readonly publications: Publications
  readonly backPressure: {
    readonly watched: () => readonly LiveSession[]
    readonly check: (session: LiveSession, nowMs: number) => void
  }
  readonly end: (session: LiveSession, reason: DisconnectReason) => void
  /** Called with a channel whose check fails. */
  readonly noteFault: (channel: Channel, error: unknown) => void
  /** Ends a session whose check fails. */
  readonly fail: (session: LiveSession, error: unknown) => void
  readonly pingIntervalMs: number
  readonly timeIntervalMs: number
  readonly tickMs: number
}

/** Length of a time slice: requests and publications are handled between two. */
const sliceMs = 1

/** Number of ticks from one check of staleness to the next. */
const staleCheckTicks = 4

/** What happens to sessions and channels as time passes: pings, repeated publications, timeouts. */
export function openHeartbeats(options: HeartbeatOptions) {
  const { sessions, channels, fanOut, publications, backPressure, end, noteFault, fail } = options
  const { pingIntervalMs, timeIntervalMs, tickMs } = options
  let timeDueAtMs = performance.now() + timeIntervalMs
  let lastTickMs = performance.now()
  let ticks = 0
  let isTicking = false
  let isClosed = false

  /**
   * Takes an expired or revoked listen token from a session, and ends the session if it needs one. Publications
   * check tokens too, but are rare, and those of a channel with a delay are late.
   */
  function checkToken(session: LiveSession): void {
    const { grant } = session
    if (grant === null || publications.isGranted(grant, grant.stationId)) return
    session.grant = null
    session.key = ''
    const needsToken = ({ channel, epoch }: Subscription) => {
      const station = epoch === '' ? undefined : publications.find(channel)
      return station !== undefined && !publications.isPublic(station.stationId)
    }
    if (session.subscriptions.some(needsToken)) end(session, 'tokenExpired')
  }

  function checkSession(session: LiveSession, nowMs: number, credit: number): void {
    if (session.credit < channelBurst) session.credit = Math.min(channelBurst, session.credit + credit)
    if (nowMs < session.dueAtMs) return
    if (session.phase === 'waiting') end(session, 'stale')
    else if (session.phase === 'connected') {
      session.dueAtMs = nowMs + pingIntervalMs
      // Both are sent with one system call.
      session.transport.cork(() => {
        session.transport.ping()
        sendUnlessBehind(session, pingFrame)
      })
    }
  }

  function checkChannel(channel: Channel, nowMs: number, checksStaleness: boolean): void {
    const triggers = channel.postponed.length > 0 ? applyDuePublications(channel, engineTimeMs()) : null
    const isStalenessNew = checksStaleness && hasStalenessChanged(channel)
    if (triggers !== null || isStalenessNew || nowMs >= channel.dueAtMs)
      fanOut.publish(channel, triggers ?? [])
  }

  /** Whether a channel became stale, or stopped being stale, since the last check. */
  function hasStalenessChanged(channel: Channel): boolean {
    const station = publications.find(channel)
    if (station === undefined) return false
    const before = channel.isStale
    channel.isStale = publications.staleSince(station) !== null
    return channel.isStale !== before
  }

  /** Checks the sessions that still exist when it is their turn. What fails for one affects no other. */
  async function visitSessions(
    all: readonly LiveSession[],
    check: (session: LiveSession) => void
  ): Promise<void> {
    await visitInTimeSlices(sliceMs, all, session => {
      if (isClosed || session.phase === 'ended') return
      try {
        check(session)
      } catch (error) {
        fail(session, error)
      }
    })
  }

  async function tick(): Promise<void> {
    const nowMs = performance.now()
    const credit = ((nowMs - lastTickMs) / 1_000) * channelsPerSecond
    lastTickMs = nowMs
    await visitSessions(backPressure.watched(), session => backPressure.check(session, nowMs))
    await visitSessions([...sessions], session => {
      checkToken(session)
      checkSession(session, nowMs, credit)
    })
    const checksStaleness = ticks++ % staleCheckTicks === 0
    await visitInTimeSlices(sliceMs, [...channels.all()], channel => {
      if (isClosed || channel.subscribers.size === 0) return
      try {
        checkChannel(channel, nowMs, checksStaleness)
      } catch (error) {
        noteFault(channel, error)
      }
    })
    if (isClosed || nowMs < timeDueAtMs) return
    timeDueAtMs = nowMs + timeIntervalMs
    for (const channel of channels.named(timeChannel)) fanOut.publish(channel, [])
  }

  const timer = setInterval(() => {
    // With very many sessions a tick may take longer than the interval.
    if (isTicking) return
    isTicking = true
    void tick().finally(() => (isTicking = false))
  }, tickMs)

  return {
    close: () => {
      isClosed = true
      clearInterval(timer)
    }
  }
}
