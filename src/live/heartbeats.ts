import { engineTimeMs } from '../runtime/engine-time.ts'
import type { Logger } from '../runtime/log.ts'
import type { Trigger } from '../station/triggers.ts'
import { applyDueChanges, type Channels } from './channels.ts'
import type { FanOut } from './fan-out.ts'
import { pingFrame } from './frames.ts'
import { channelCredit, channelsPerSecond, type DisconnectReason, timeChannel } from './protocol.ts'
import { sendUnlessBehind } from './sender.ts'
import type { Channel, Session } from './session.ts'

interface HeartbeatOptions {
  readonly sessions: ReadonlySet<Session>
  readonly channels: Channels
  readonly fanOut: FanOut
  readonly backPressure: { readonly check: (nowMs: number) => void }
  readonly end: (session: Session, reason: DisconnectReason) => void
  readonly log: Logger
  readonly heartbeatMs: number
  readonly pingIntervalMs: number
  readonly timeIntervalMs: number
  readonly tickMs: number
}

/** What happens to sessions and channels as time passes: pings, repeated publications, timeouts. */
export function openHeartbeats(options: HeartbeatOptions) {
  const { sessions, channels, fanOut, end, log } = options
  const { heartbeatMs, pingIntervalMs, timeIntervalMs, tickMs } = options
  let timeDueAtMs = performance.now() + timeIntervalMs
  let lastTickMs = performance.now()

  /** Publishes a channel, and repeats it one interval later if nothing else is published. */
  function publish(channel: Channel, triggers: Iterable<Trigger>): void {
    channel.dueAtMs = performance.now() + heartbeatMs
    fanOut.publish(channel, triggers)
  }

  function checkSession(session: Session, nowMs: number, credit: number): void {
    if (session.credit < channelCredit) session.credit = Math.min(channelCredit, session.credit + credit)
    if (nowMs < session.dueAtMs) return
    if (session.phase === 'waiting') end(session, 'stale')
    else if (session.phase === 'connected') {
      session.dueAtMs = nowMs + pingIntervalMs
      sendUnlessBehind(session, pingFrame)
    }
  }

  function checkChannel(channel: Channel, nowMs: number): void {
    const triggers = channel.postponed.length > 0 ? applyDueChanges(channel, engineTimeMs()) : null
    if (triggers !== null || nowMs >= channel.dueAtMs) publish(channel, triggers ?? [])
  }

  function tick(): void {
    const nowMs = performance.now()
    const credit = ((nowMs - lastTickMs) / 1_000) * channelsPerSecond
    lastTickMs = nowMs
    options.backPressure.check(nowMs)
    for (const session of sessions) checkSession(session, nowMs, credit)
    for (const channel of channels.all()) checkChannel(channel, nowMs)
    if (nowMs < timeDueAtMs) return
    timeDueAtMs = nowMs + timeIntervalMs
    for (const channel of channels.named(timeChannel)) fanOut.publish(channel, [])
  }

  const timer = setInterval(() => {
    try {
      tick()
    } catch (error) {
      log.error({ err: error }, 'heartbeat failed')
    }
  }, tickMs)

  return { publish, close: () => clearInterval(timer) }
}

/** When the first repetition of a new channel is due: at a random time, so that channels spread out. */
export const firstDueAtMs = (channelName: string, heartbeatMs: number) =>
  channelName === timeChannel ? Infinity : performance.now() + heartbeatMs * (0.5 + Math.random() / 2)
